import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import type { SheetField } from '../api/contract.ts'
import { recordQuery } from '../api/queries.ts'
import { CellValueView } from '../values/cell-value-view.tsx'

/** A cell under the pointer whose value is another one now. */
interface Pointed {
  readonly recordId: string
  readonly field: SheetField
  readonly isDeleted: boolean
  readonly left: number
  readonly top: number
}

/** Returns what is at a row and a column of the grid; null for a cell that is the same now. */
export type DifferenceAt = (row: number, column: number) => Omit<Pointed, 'left' | 'top'> | null

interface NowTipProps {
  /** The grid; null until it is mounted. */
  readonly grid: HTMLElement | null
  readonly at: DifferenceAt
}

const GAP = 2
const WIDTH = 376

/** Shows the present value of the marked cell under the pointer; the panel of the cell has it for the keyboard. */
export default function NowTip({ grid, at }: NowTipProps) {
  const [pointed, setPointed] = useState<Pointed | null>(null)
  useEffect(() => {
    if (grid === null) return undefined
    const onOver = ({ target }: PointerEvent): void => {
      const cell = target instanceof Element ? target.closest('.grid-cell') : null
      const row = cell?.closest<HTMLElement>('.grid-row')?.dataset['row']
      const found =
        row === undefined ? null : at(Number(row), Number(cell?.getAttribute('aria-colindex')) - 2)
      const box = cell?.getBoundingClientRect()
      if (found === null || box === undefined) return setPointed(null)
      setPointed({
        ...found,
        left: Math.max(8, Math.min(box.left, innerWidth - WIDTH)),
        top: box.bottom + GAP,
      })
    }
    const hide = (): void => setPointed(null)
    grid.addEventListener('pointerover', onOver)
    grid.addEventListener('pointerleave', hide)
    grid.addEventListener('scroll', hide)
    return () => {
      grid.removeEventListener('pointerover', onOver)
      grid.removeEventListener('pointerleave', hide)
      grid.removeEventListener('scroll', hide)
    }
  }, [grid, at])
  const isRead = pointed !== null && !pointed.isDeleted
  const { data } = useQuery({ ...recordQuery(pointed?.recordId ?? ''), enabled: isRead })
  if (pointed === null || (isRead && data === undefined)) return null
  const { field, isDeleted, left, top } = pointed
  return createPortal(
    <div className="now-tip" style={{ left, top }} aria-hidden="true">
      {isDeleted ? (
        'The record was deleted since'
      ) : (
        <>
          Now: <CellValueView type={field.type} values={field.values} value={data?.[field.name]} />
        </>
      )}
    </div>,
    document.body,
  )
}
