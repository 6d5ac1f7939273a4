import { formatCount } from '../../ui/format.ts'

/** A cell with a count; a zero steps back. */
export function CountCell({
  count,
  className = '',
}: {
  readonly count: number
  readonly className?: string
}) {
  return <td className={`number ${count === 0 ? 'none' : ''} ${className}`}>{formatCount(count)}</td>
}
