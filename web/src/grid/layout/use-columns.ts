import { useMemo, useState } from 'react'
import type { SheetContract, SheetField } from '../../api/contract.ts'
import { GHOST_WIDTH, type Ghost } from '../../columns/ghost.ts'
import { formatOf, MIN_WIDTH, shownFields, useColumnSettings, widthOf } from '../../state/columns.ts'
import { Stored, useStored } from '../../state/stored.ts'
import { layOutColumns, moveName, type ColumnLayout } from './column-layout.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { formatCount } from '../../ui/format.ts'
import { parseFormat, type ColumnFormat } from '../../values/column-format.ts'

const HEAD_HEIGHT = 38
const SUMMARY_HEIGHT = 42
/** The line with the states of a derived column's cells. */
const STATES_HEIGHT = 14
const GREATEST_WIDTH = 1200

const summaries = new Stored('summaries', (value) => value !== false)

/** The columns of the grid and their operations. Settings are stored per sheet. */
export interface Columns {
  readonly layout: ColumnLayout
  /** The width of the row numbers. */
  readonly gutter: number
  readonly headHeight: number
  readonly rowHeight: number
  readonly hidden: readonly SheetField[]
  readonly showsSummaries: boolean
  showSummaries(shown: boolean): void
  setRowHeight(pixels: number): void
  pin(name: string, isPinned: boolean): void
  hide(name: string): void
  show(names: readonly string[]): void
  /** Moves a column before or after another. */
  place(name: string, beside: string, side: 'before' | 'after'): void
  /** Moves a column one position to the left or right. */
  shift(name: string, by: -1 | 1): void
  resize(name: string, width: number): void
  /** Changes members of a column's format; undefined ones follow the type again. */
  format(name: string, change: Changed<ColumnFormat>): void
  /** Sets a width during a drag without storing it. */
  tryWidth(name: string, width: number): void
  reset(): void
}

/** Some members, or undefined to remove them. */
type Changed<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

/** The width of the head with the button that adds a column. */
export const ADD_WIDTH = 44

/** The parts of the grid besides columns. */
interface Beside {
  /** The columns that do not exist yet. */
  readonly ghost: Ghost | null
  /** Whether there is a button after the last head. */
  readonly mayAdd: boolean
}

/** Returns the columns, memoized. */
export function useColumns(
  contract: SheetContract,
  room: number,
  count: number | null,
  { ghost, mayAdd }: Beside,
): Columns {
  const [settings, change] = useColumnSettings(contract.name)
  const [showsSummaries, showSummaries] = useStored(summaries)
  const [tried, setTried] = useState<{ readonly name: string; readonly width: number } | null>(null)
  const gutter = gutterFor(count ?? 0)
  // Previewed values do not change the layout.
  const ghostPlace = ghost === null ? undefined : ghost.place
  const ghostWidth = (ghost?.columns.length ?? 0) * GHOST_WIDTH
  const layout = useMemo(() => {
    const width = (field: SheetField): number =>
      tried?.name === field.name ? tried.width : widthOf(field, settings)
    const shown = shownFields(contract, settings)
    return layOutColumns(
      shown,
      width,
      gutter,
      room,
      {
        ghostBefore: ghostPlace === undefined ? undefined : nameAfter(shown, ghostPlace),
        ghostWidth,
        tail: mayAdd ? ADD_WIDTH : 0,
      },
      (field) => formatOf(field, settings),
    )
  }, [contract, settings, tried, gutter, room, ghostPlace, ghostWidth, mayAdd])

  const hasStates = layout.columns.some(({ field }) => field.derived !== null)
  const latest = useLatest({ contract, settings, change, layout, showSummaries })
  const actions = useMemo(() => columnActions(latest, setTried), [latest])
  return useMemo(
    () => ({
      layout,
      gutter,
      headHeight: HEAD_HEIGHT + (hasStates ? STATES_HEIGHT : 0) + (showsSummaries ? SUMMARY_HEIGHT : 0),
      rowHeight: settings.rowHeight,
      hidden: contract.fields.filter(({ name }) => settings.hidden.includes(name)),
      showsSummaries,
      ...actions,
    }),
    [layout, gutter, contract, settings, hasStates, showsSummaries, actions],
  )
}

interface Latest {
  readonly current: {
    readonly contract: SheetContract
    readonly settings: ReturnType<typeof useColumnSettings>[0]
    readonly change: ReturnType<typeof useColumnSettings>[1]
    readonly layout: ColumnLayout
    readonly showSummaries: (shown: boolean) => void
  }
}

type Actions = Omit<Columns, 'layout' | 'gutter' | 'headHeight' | 'rowHeight' | 'hidden' | 'showsSummaries'>

function columnActions(
  latest: Latest,
  tryWidth: (tried: { name: string; width: number } | null) => void,
): Actions {
  const now = (): Latest['current'] => latest.current
  const pinnedNames = (): string[] =>
    shownFields(now().contract, now().settings).pinned.map(({ name }) => name)
  const orderedNames = (): string[] => {
    const { pinned, others } = shownFields(now().contract, { ...now().settings, hidden: [] })
    return [...pinned, ...others].map(({ name }) => name)
  }
  const place: Columns['place'] = (name, beside, side) =>
    now().change({ order: moveName(orderedNames(), name, beside, side) })
  return {
    showSummaries: (shown) => now().showSummaries(shown),
    setRowHeight: (rowHeight) => now().change({ rowHeight }),
    pin: (name, isPinned) => {
      const rest = pinnedNames().filter((each) => each !== name)
      now().change({ pinned: isPinned ? [...rest, name] : rest })
    },
    hide: (name) => now().change({ hidden: [...now().settings.hidden, name] }),
    show: (names) => now().change({ hidden: now().settings.hidden.filter((name) => !names.includes(name)) }),
    place,
    shift: (name, by) => {
      const { columns, indexByName } = now().layout
      const column = columns[indexByName.get(name) ?? -1]
      const beside = column === undefined ? undefined : columns[column.index + by]
      if (beside === undefined || beside.isPinned !== column?.isPinned) return
      place(name, beside.field.name, by < 0 ? 'before' : 'after')
    },
    resize: (name, width) => {
      tryWidth(null)
      now().change({ widths: { ...now().settings.widths, [name]: boundedWidth(width) } })
    },
    format: (name, wanted) => {
      const { formats } = now().settings
      now().change({ formats: { ...formats, [name]: parseFormat({ ...formats[name], ...wanted }) } })
    },
    tryWidth: (name, width) => tryWidth({ name, width: boundedWidth(width) }),
    reset: () => now().change({ order: [], hidden: [], pinned: [], widths: {}, formats: {} }),
  }
}

/** Returns the scrolling column before which a new one will be; null for the end. */
function nameAfter({ pinned, others }: ReturnType<typeof shownFields>, place: Ghost['place']): string | null {
  if (place === null) return null
  const index = others.findIndex(({ name }) => name === place.beside)
  const isPinned = pinned.some(({ name }) => name === place.beside)
  if (index === -1 && !isPinned) return null
  return others[index + (place.side === 'after' || isPinned ? 1 : 0)]?.name ?? null
}

function boundedWidth(width: number): number {
  return Math.round(Math.max(MIN_WIDTH, Math.min(width, GREATEST_WIDTH)))
}

/** Returns the width of the largest row number. */
function gutterFor(count: number): number {
  return Math.max(44, 22 + 8 * formatCount(count).length)
}
