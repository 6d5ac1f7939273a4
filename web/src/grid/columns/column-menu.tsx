import { DropdownMenu } from 'radix-ui'
import { useRef, type ReactNode } from 'react'
import { Link } from 'wouter'
import { derivationPath } from '../../provenance/history/sentence-view.tsx'
import { isGroupable } from '../../groups/group-conditions.ts'
import type { Condition } from '../../state/conditions.ts'
import { openRunDialog } from '../../runs/dialogs/run-dialog.tsx'
import { CHOOSES_BY_MAIN_BUTTON, MenuItem } from '../../ui/menu-item.tsx'
import { FormatItems } from './format-items.tsx'
import { isSortable, type ColumnHeadProps } from './column-head-props.ts'
import { focusSummary } from '../selection/cell-id.ts'
import { formatValue } from '../../values/format-value.ts'
import { formatSort, parseSort, withSort } from '../../state/sort-order.ts'
import { groupsBy } from '../../state/view-state.ts'

const WIDTH_STEP = 40

type ColumnMenuProps = ColumnHeadProps & {
  /** The trigger. */
  readonly children: ReactNode
}

/** The menu of a column, with all that the mouse can do. */
export function ColumnMenu(props: ColumnMenuProps) {
  const { host, columns, column, children, isPast } = props
  const toSummary = useRef(false)
  const toDrawer = useRef(false)
  return (
    <DropdownMenu.Root open onOpenChange={(isOpen) => isOpen || host.current.openMenu(null)} modal={false}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          {...CHOOSES_BY_MAIN_BUTTON}
          className="menu"
          align="end"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            // The focus stays in the grid.
            event.preventDefault()
            if (toDrawer.current || (toSummary.current && focusSummary(column.index))) return
            host.current.model.scroller.element?.focus({ preventScroll: true })
          }}
        >
          {isSortable(column.field) && <SortItems {...props} />}
          <FilterItems {...props} />
          {isGroupable(column.field) && !isPast && (
            <MenuItem
              onSelect={() =>
                host.current.model.change({ groups: groupsBy(column.field.name), charts: false })
              }
            >
              Group by this column
            </MenuItem>
          )}
          {columns.showsSummaries && !isPast && (
            <MenuItem onSelect={() => (toSummary.current = true)}>Filter in the summary (F2)</MenuItem>
          )}
          <DefinitionItems {...props} toDrawer={toDrawer} />
          {column.field.derived !== null && !isPast && (
            <>
              <MenuItem
                onSelect={() =>
                  openRunDialog({ targets: [column.field.name] }, `Compute ${column.field.title}`)
                }
              >
                Compute this column…
              </MenuItem>
              <MenuItem
                onSelect={() =>
                  openRunDialog(
                    { targets: [column.field.name], only: 'failed' },
                    `Retry failed cells of ${column.field.title}`,
                  )
                }
              >
                Retry its failed cells…
              </MenuItem>
              <DropdownMenu.Item className="menu-item" asChild>
                <Link href={derivationPath(column.field.derived.derivation)}>Show derivation</Link>
              </DropdownMenu.Item>
              <DropdownMenu.Separator className="menu-line" />
            </>
          )}
          <FormatItems columns={columns} column={column} />
          <PlaceItems {...props} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** The commands that change the contract: absent where the service refuses it. */
function DefinitionItems({
  host,
  column: { field },
  toDrawer,
}: ColumnMenuProps & { readonly toDrawer: { current: boolean } }) {
  const { drawer } = host.current.model
  if (!drawer.mayChange) return null
  const open = (begin: () => void) => (): void => {
    // The drawer takes the focus.
    toDrawer.current = true
    begin()
  }
  const insert = (side: 'before' | 'after') => open(() => drawer.add({ beside: field.name, side }))
  return (
    <>
      {!field.primaryKey && <MenuItem onSelect={open(() => drawer.edit(field.name))}>Edit field…</MenuItem>}
      {!field.primaryKey && <MenuItem onSelect={insert('before')}>Insert left…</MenuItem>}
      <MenuItem onSelect={insert('after')}>Insert right…</MenuItem>
      {field.derived === null && <DropdownMenu.Separator className="menu-line" />}
    </>
  )
}

function SortItems({ host, column: { field }, sortTerm }: ColumnMenuProps) {
  const { view, change } = host.current.model
  const terms = parseSort(view.sort)
  const sort = (descending: boolean, add: boolean) => (): void =>
    change({ sort: formatSort(withSort(terms, { field: field.name, descending }, add)) })
  const others = terms.filter((term) => term.field !== field.name)
  return (
    <>
      <MenuItem onSelect={sort(false, false)}>Sort ascending</MenuItem>
      <MenuItem onSelect={sort(true, false)}>Sort descending</MenuItem>
      {sortTerm === null && terms.length > 0 && (
        <MenuItem onSelect={sort(false, true)}>Add to the sort order</MenuItem>
      )}
      {sortTerm !== null && (
        <MenuItem onSelect={() => change({ sort: formatSort(others) })}>Remove from the sort order</MenuItem>
      )}
      <DropdownMenu.Separator className="menu-line" />
    </>
  )
}

function FilterItems({ host, column: { field, format }, isPast }: ColumnMenuProps) {
  const { view, change, selecting, rows } = host.current.model
  const add = (condition: Omit<Condition, 'field'>) => (): void =>
    change({ conditions: [...view.conditions, { field: field.name, ...condition }] })
  const row = selecting.selection?.focus.row ?? -1
  const value = row < 0 ? undefined : rows.at(row)?.[field.name]
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return (
    <>
      {isPlain && (
        <>
          <MenuItem onSelect={add({ is: 'equals', value })}>
            Only “{shortened(formatValue(field.type, value, format))}”
          </MenuItem>
          <MenuItem onSelect={add({ is: 'differs', value })}>
            Exclude “{shortened(formatValue(field.type, value, format))}”
          </MenuItem>
        </>
      )}
      <MenuItem onSelect={add({ is: 'filled', value: null })}>Only records with a value</MenuItem>
      <MenuItem onSelect={add({ is: 'empty', value: null })}>Only records without a value</MenuItem>
      {field.derived !== null && !isPast && (
        <MenuItem onSelect={add({ is: 'inState', value: ['failed'] })}>Only records where it failed</MenuItem>
      )}
      <DropdownMenu.Separator className="menu-line" />
    </>
  )
}

function PlaceItems({ columns, column: { field, isPinned, index, width }, onFit }: ColumnMenuProps) {
  const { name, primaryKey } = field
  const { layout } = columns
  const isAlone = isPinned && layout.pinned.length === 1
  const mayShift = (by: -1 | 1): boolean => layout.columns[index + by]?.isPinned === isPinned
  return (
    <>
      {!(primaryKey && isAlone) && (
        <MenuItem onSelect={() => columns.pin(name, !isPinned)}>{isPinned ? 'Unpin' : 'Pin left'}</MenuItem>
      )}
      <MenuItem isDisabled={!mayShift(-1)} onSelect={() => columns.shift(name, -1)}>
        Move left
      </MenuItem>
      <MenuItem isDisabled={!mayShift(1)} onSelect={() => columns.shift(name, 1)}>
        Move right
      </MenuItem>
      <MenuItem onSelect={onFit}>Fit to visible values</MenuItem>
      <MenuItem stays onSelect={() => columns.resize(name, width + WIDTH_STEP)}>
        Wider
      </MenuItem>
      <MenuItem stays onSelect={() => columns.resize(name, width - WIDTH_STEP)}>
        Narrower
      </MenuItem>
      <DropdownMenu.Separator className="menu-line" />
      <MenuItem onSelect={() => columns.showSummaries(!columns.showsSummaries)}>
        {columns.showsSummaries ? 'Hide summaries' : 'Show summaries'}
      </MenuItem>
      <MenuItem isDisabled={layout.columns.length === 1} onSelect={() => columns.hide(name)}>
        Hide column
      </MenuItem>
    </>
  )
}

function shortened(text: string): string {
  return text.length > 24 ? `${text.slice(0, 24)}…` : text
}
