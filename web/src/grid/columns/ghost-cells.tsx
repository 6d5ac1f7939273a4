import { TriangleAlert } from 'lucide-react'
import type { FieldType } from '../../api/contract.ts'
import { GHOST_WIDTH, type Ghost } from '../../columns/ghost.ts'
import { CellValueView } from '../../values/cell-value-view.tsx'
import { TypeIcon } from '../../values/type-icon.tsx'
import './ghost-cells.css'

interface GhostProps {
  readonly ghost: Ghost
}

/** The heads of columns that do not exist yet. The drawer describes them to screen readers. */
export function GhostHeads({ ghost }: GhostProps) {
  return ghost.columns.map(({ name, title, type }, index) => (
    // Two may be unnamed.
    // oxlint-disable-next-line react/no-array-index-key
    <div
      key={index}
      aria-hidden="true"
      className="grid-head-cell ghost"
      style={{ width: GHOST_WIDTH }}
      title={name}
    >
      <div className="column-head-top">
        <span className="column-name">
          <TypeIcon field={{ type, primaryKey: false }} />
          <span className="column-title">{title}</span>
        </span>
      </div>
    </div>
  ))
}

/** The cells of columns that do not exist yet, with previewed values. */
export function GhostCells({ ghost, recordId }: GhostProps & { readonly recordId: string | null }) {
  return ghost.columns.map(({ type, cells }, index) => {
    const cell = recordId === null ? undefined : cells.get(recordId)
    return (
      // oxlint-disable-next-line react/no-array-index-key
      <div
        key={index}
        aria-hidden="true"
        className={isNumber(type) ? 'grid-cell ghost right' : 'grid-cell ghost'}
        style={{ width: GHOST_WIDTH }}
      >
        {cell?.isFailed === true && <TriangleAlert className="ghost-failed" size={13} />}
        {cell !== undefined && !cell.isFailed && <CellValueView type={type} value={cell.value} />}
      </div>
    )
  })
}

function isNumber(type: FieldType): boolean {
  return type === 'number' || type === 'integer'
}
