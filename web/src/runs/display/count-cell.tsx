import { formatCount } from '../../ui/format.ts'

/** A table cell with a count; zero is greyed. */
export function CountCell({
  count,
  className = '',
}: {
  readonly count: number
  readonly className?: string
}) {
  return <td className={`number ${count === 0 ? 'none' : ''} ${className}`}>{formatCount(count)}</td>
}
