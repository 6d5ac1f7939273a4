import type { CSSProperties } from 'react'
import { Link } from 'wouter'
import type { DerivationAnswer } from '../../../src/wire/definition/derivations.ts'
import type { StatusAnswer } from '../../../src/wire/runs/status.ts'
import type { SheetField } from '../api/contract.ts'
import { editFieldPath } from '../state/view-state.ts'
import { TypeIcon } from '../values/type-icon.tsx'
import { StatusBar } from './status-bar.tsx'
import { countsText, headline, sumCounts, type StatusCounts } from './status-text.ts'

interface FieldNodeProps {
  readonly name: string
  readonly field: SheetField | null
  /** The counts of a derived field; null if they are not loaded. */
  readonly counts: StatusCounts | null
  readonly style: CSSProperties
  /** Whether the definition may be changed. */
  readonly mayEdit: boolean
  readonly onSelect: (file: string) => void
}

/** The node of a field; for a derived field, with the counts of its cell states. A click on another one edits it. */
export function FieldNode({ name, field, counts, style, mayEdit, onSelect }: FieldNodeProps) {
  const derived = field?.derived ?? null
  const label = (
    <span className="graph-name">
      {field !== null && <TypeIcon field={field} />}
      <span>{name}</span>
    </span>
  )
  if (derived === null) {
    return mayEdit && field !== null && !field.primaryKey ? (
      // With the keyboard, the menu of its column does the same.
      <Link
        tabIndex={-1}
        className="graph-node field"
        style={style}
        title="Edit field…"
        href={editFieldPath(name)}
      >
        {label}
      </Link>
    ) : (
      <div className="graph-node field" style={style} title={field?.title}>
        {label}
      </div>
    )
  }
  return (
    // Keyboard and screen reader users open the derivation itself.
    <button
      type="button"
      tabIndex={-1}
      className="graph-node field target"
      style={style}
      title={counts === null ? field?.title : `${field?.title ?? name}: ${countsText(counts)}`}
      onClick={() => onSelect(derived.derivation)}
    >
      {label}
      {counts !== null && (
        <>
          <StatusBar counts={counts} />
          <span className={counts.failed > 0 ? 'graph-counts failed' : 'graph-counts'}>
            {headline(counts)}
          </span>
        </>
      )}
    </button>
  )
}

interface DerivationNodeProps {
  readonly derivation: DerivationAnswer
  readonly status: StatusAnswer
  readonly style: CSSProperties
  readonly isSelected: boolean
  readonly onSelect: (file: string) => void
  readonly onPoint: (file: string | null) => void
}

export function DerivationNode({
  derivation,
  status,
  style,
  isSelected,
  onSelect,
  onPoint,
}: DerivationNodeProps) {
  const { file, kind, inputs, targets } = derivation
  const counts = sumCounts(targets.flatMap((target) => status[target] ?? []))
  const name = file.replace(/\.yaml$/, '')
  // Starts with the visible text, as speech input requires (WCAG 2.5.3).
  const words = `${name} ${kind}: computes ${targets.join(', ')} from ${inputs.join(', ') || 'nothing'}. Cells: ${countsText(counts)}`
  return (
    <li>
      <button
        type="button"
        className="graph-node derivation"
        style={style}
        aria-label={words}
        aria-current={isSelected ? 'true' : undefined}
        title={file}
        onClick={() => onSelect(file)}
        onPointerEnter={() => onPoint(file)}
        onPointerLeave={() => onPoint(null)}
        onFocus={() => onPoint(file)}
        onBlur={() => onPoint(null)}
      >
        <strong>{name}</strong> <span>{kind}</span>
      </button>
    </li>
  )
}
