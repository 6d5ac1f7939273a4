import { DropdownMenu } from 'radix-ui'
import { useRef, type ReactNode } from 'react'
import { Link } from 'wouter'
import { derivationPath } from '../../provenance/history/sentence-view.tsx'
import type { Condition } from '../../state/conditions.ts'
import { openRunDialog } from '../../runs/dialogs/run-dialog.tsx'
import '../../ui/menu.css'
import { FormatItems } from './format-items.tsx'
import { isSortable, type ColumnHeadProps } from './column-head-props.ts'
import { focusSummary } from '../selection/cell-id.ts'
import { formatValue } from '../../values/format-value.ts'
import { formatSort, parseSort, withSort } from '../../state/sort-order.ts'

const WIDTH_STEP = 40

type ColumnMenuProps = ColumnHeadProps & {
  /** The trigger. */
  readonly children: ReactNode
}

/** The menu of a column, with all that the mouse can do. */
export function ColumnMenu(props: ColumnMenuProps) {
  const { host, columns, column, children } = props
  const toSummary = useRef(false)
  const toDrawer = useRef(false)
  return (
    <DropdownMenu.Root open onOpenChange={(isOpen) => isOpen || host.current.openMenu(null)} modal={false}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
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
          {columns.showsSummaries && (
            <Item onSelect={() => (toSummary.current = true)}>Filter in the summary (F2)</Item>
          )}
          <DefinitionItems {...props} toDrawer={toDrawer} />
          {column.field.derived !== null && (
            <>
              <Item
                onSelect={() =>
                  openRunDialog({ targets: [column.field.name] }, `Compute ${column.field.title}`)
                }
              >
                Compute this column…
              </Item>
              <Item
                onSelect={() =>
                  openRunDialog(
                    { targets: [column.field.name], only: 'failed' },
                    `Retry failed cells of ${column.field.title}`,
                  )
                }
              >
                Retry its failed cells…
              </Item>
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
      {!field.primaryKey && <Item onSelect={open(() => drawer.edit(field.name))}>Edit field…</Item>}
      {!field.primaryKey && <Item onSelect={insert('before')}>Insert left…</Item>}
      <Item onSelect={insert('after')}>Insert right…</Item>
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
      <Item onSelect={sort(false, false)}>Sort ascending</Item>
      <Item onSelect={sort(true, false)}>Sort descending</Item>
      {sortTerm === null && terms.length > 0 && (
        <Item onSelect={sort(false, true)}>Add to the sort order</Item>
      )}
      {sortTerm !== null && (
        <Item onSelect={() => change({ sort: formatSort(others) })}>Remove from the sort order</Item>
      )}
      <DropdownMenu.Separator className="menu-line" />
    </>
  )
}

function FilterItems({ host, column: { field, format } }: ColumnMenuProps) {
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
          <Item onSelect={add({ is: 'equals', value })}>
            Only “{shortened(formatValue(field.type, value, format))}”
          </Item>
          <Item onSelect={add({ is: 'differs', value })}>
            Exclude “{shortened(formatValue(field.type, value, format))}”
          </Item>
        </>
      )}
      <Item onSelect={add({ is: 'filled', value: null })}>Only records with a value</Item>
      <Item onSelect={add({ is: 'empty', value: null })}>Only records without a value</Item>
      {field.derived !== null && (
        <Item onSelect={add({ is: 'inState', value: ['failed'] })}>Only records where it failed</Item>
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
        <Item onSelect={() => columns.pin(name, !isPinned)}>{isPinned ? 'Unpin' : 'Pin left'}</Item>
      )}
      <Item isDisabled={!mayShift(-1)} onSelect={() => columns.shift(name, -1)}>
        Move left
      </Item>
      <Item isDisabled={!mayShift(1)} onSelect={() => columns.shift(name, 1)}>
        Move right
      </Item>
      <Item onSelect={onFit}>Fit to visible values</Item>
      <Item stays onSelect={() => columns.resize(name, width + WIDTH_STEP)}>
        Wider
      </Item>
      <Item stays onSelect={() => columns.resize(name, width - WIDTH_STEP)}>
        Narrower
      </Item>
      <DropdownMenu.Separator className="menu-line" />
      <Item onSelect={() => columns.showSummaries(!columns.showsSummaries)}>
        {columns.showsSummaries ? 'Hide summaries' : 'Show summaries'}
      </Item>
      <Item isDisabled={layout.columns.length === 1} onSelect={() => columns.hide(name)}>
        Hide column
      </Item>
    </>
  )
}

interface ItemProps {
  readonly children: ReactNode
  readonly onSelect: () => void
  readonly isDisabled?: boolean
  /** Whether the menu stays open, for actions that are repeated. */
  readonly stays?: boolean
}

function Item({ children, onSelect, isDisabled = false, stays = false }: ItemProps) {
  return (
    <DropdownMenu.Item
      className="menu-item"
      disabled={isDisabled}
      onSelect={(event) => {
        if (stays) event.preventDefault()
        onSelect()
      }}
    >
      {children}
    </DropdownMenu.Item>
  )
}

function shortened(text: string): string {
  return text.length > 24 ? `${text.slice(0, 24)}…` : text
}
