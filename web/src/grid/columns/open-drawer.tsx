import { lazy, Suspense, useEffect, useEffectEvent, useMemo, useState } from 'react'
import { useColumnSettings } from '../../state/columns.ts'
import { useSettled } from '../../ui/use-settled.ts'
import type { GridModel } from '../interaction/use-grid.ts'
import { scrollLeftToShow, visibleWidth } from '../layout/column-layout.ts'
import { formatSort, parseSort } from '../../state/sort-order.ts'

/** The number of ticked records on which a new column is tried. */
const TICKED = 10

/** The most rows in sight that are computed: those of one preview. */
const IN_SIGHT = 50

/** The milliseconds for which rows must stay in sight. */
const SIGHT_MS = 200

/** Loads the drawer. */
export const fetchDrawer = () => import('../../columns/column-drawer.tsx')

// Loaded after the first view.
const ColumnDrawer = lazy(fetchDrawer)

/** The drawer that adds or edits a column. What the page knows by the name of a field follows a new name. */
export function OpenDrawer({ model }: { readonly model: GridModel }) {
  const { contract, drawer, columns, scroller, view, change, selecting, rows } = model
  const [settings, setSettings] = useColumnSettings(contract.name)
  const { ghost } = columns.layout
  const ghostLeft = ghost?.left ?? null
  const ghostEnd = ghost === null ? 0 : ghost.left + ghost.width
  const { pinnedEnd } = columns.layout
  const width = visibleWidth(columns.layout, model.scroll.width)
  useEffect(() => {
    if (ghostLeft === null) return
    // Into view, with the least movement.
    if (ghostEnd - scroller.left > width) scroller.scrollToLeft(ghostEnd - width)
    else if (ghostLeft - scroller.left < pinnedEnd) scroller.scrollToLeft(ghostLeft - pinnedEnd)
  }, [scroller, ghostLeft, ghostEnd, pinnedEnd, width])

  const edited = drawer.state?.do === 'edit' ? drawer.state.field : null
  const showEdited = useEffectEvent((field: string) => {
    const column = columns.layout.columns[columns.layout.indexByName.get(field) ?? -1]
    if (column !== undefined)
      scroller.scrollToLeft(scrollLeftToShow(columns.layout, column, scroller.left, model.scroll.width))
  })
  useEffect(() => {
    if (edited !== null) showEdited(edited)
  }, [edited, model.scroll.width])

  const close = (): void => {
    drawer.close()
    scroller.element?.focus({ preventScroll: true })
  }
  const [added, setAdded] = useState<{ readonly name: string; readonly next: () => void } | null>(null)
  const selectAdded = useEffectEvent(({ name, next }: NonNullable<typeof added>) => {
    close()
    const first = rows.at(0)
    if (first !== undefined) selecting.reveal({ recordId: String(first['id']), field: name })
    next()
  })
  useEffect(() => {
    if (added !== null && columns.layout.indexByName.has(added.name)) selectAdded(added)
  }, [added, columns.layout])

  const { checked } = model
  const inSight = useSettled(idsInSight(model).join('\n'), SIGHT_MS)
  const gridRows = useMemo(
    () => ({
      ticked: [...checked.ids].slice(0, TICKED),
      inSight: inSight === '' ? [] : inSight.split('\n'),
    }),
    [checked.ids, inSight],
  )
  const { state } = drawer
  if (state === null) return null
  const rename = (from: string, to: string | null): void => {
    if (from === to) return
    const named = <T extends { readonly field: string }>(each: T): T[] =>
      each.field !== from ? [each] : to === null ? [] : [{ ...each, field: to }]
    const { sort, conditions, cell, groups } = view
    const renamed = (name: string | null): string | null => (name === from ? to : name)
    const by = groups === null ? null : renamed(groups.by)
    change({
      sort: formatSort(parseSort(sort).flatMap(named)),
      conditions: conditions.flatMap(named),
      cell: cell === null ? null : (named(cell)[0] ?? null),
      groups:
        groups === null || by === null
          ? null
          : { ...groups, by, split: renamed(groups.split), total: renamed(groups.total) },
    })
    const other = (names: readonly string[]): string[] =>
      names.flatMap((name) => (name !== from ? [name] : to === null ? [] : [to]))
    const { [from]: ownWidth, ...widths } = settings.widths
    const { [from]: ownFormat, ...formats } = settings.formats
    setSettings({
      order: other(settings.order),
      hidden: other(settings.hidden),
      pinned: other(settings.pinned),
      widths: to === null || ownWidth === undefined ? widths : { ...widths, [to]: ownWidth },
      formats: to === null || ownFormat === undefined ? formats : { ...formats, [to]: ownFormat },
    })
  }
  return (
    <Suspense fallback={<aside className="column-drawer-waiting" aria-busy="true" />}>
      <ColumnDrawer
        contract={contract}
        state={state}
        gridRows={gridRows}
        onGhost={drawer.setGhost}
        onClose={close}
        onAdded={(name, next) => {
          if (state.do === 'add' && state.place !== null && settings.order.length > 0)
            columns.place(name, state.place.beside, state.place.side)
          // It is selected once the grid has it.
          setAdded({ name, next })
        }}
        onSaved={(from, to) => {
          rename(from, to)
          close()
        }}
        onRemoved={(name) => {
          rename(name, null)
          close()
        }}
      />
    </Suspense>
  )
}

/** Returns the ids of the records whose rows are drawn; none while the drawer is closed. */
function idsInSight({ drawer, rows, scroll }: GridModel): readonly string[] {
  if (drawer.state === null) return []
  const { first, end } = scroll.rows
  const count = Math.min(end - first, IN_SIGHT)
  return Array.from({ length: count }, (_, index) => rows.at(first + index)).flatMap((record) =>
    record === undefined ? [] : [String(record['id'])],
  )
}
