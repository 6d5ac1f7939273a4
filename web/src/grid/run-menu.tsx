import { useQuery } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { countQuery } from '../api/queries.ts'
import type { RecordFilter } from '../api/record-filter.ts'
import { openPendingRun, openRetryRun, openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { Button } from '../ui/button.tsx'
import '../ui/menu.css'
import { countOf, formatCount } from '../ui/format.ts'
import { showError } from '../ui/toasts.tsx'
import { filteredIds, MAX_FILTERED } from './rows/filtered-ids.ts'

interface RunMenuProps {
  readonly contract: SheetContract
  /** The field of the selected cell. */
  readonly field: SheetField | null
  readonly checkedIds: ReadonlySet<string>
  /** The filter of the list; null for all records. */
  readonly filter: RecordFilter | null
}

/**
 * The menu of runs: the filtered records, all pending cells, failed cells, checked records, or a column. Each opens a dialog with its plan.
 */
export function RunMenu({ contract, field, checkedIds, filter }: RunMenuProps) {
  const derived = contract.fields.filter((each) => each.derived !== null)
  if (derived.length === 0) return null
  const column = field?.derived === null ? null : field
  const ids = [...checkedIds]
  const records = countOf(ids.length, 'selected record')
  const ofAll = filter === null ? '' : ' of all records'
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <Button look="primary" icon={<Play size={14} />}>
          Run…
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={6} collisionPadding={8}>
          {filter !== null && <FilteredItem filter={filter} />}
          <DropdownMenu.Item className="menu-item" onSelect={openPendingRun}>
            Compute missing, stale and failed cells{ofAll}
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item" onSelect={openRetryRun}>
            Retry failed cells{ofAll}
          </DropdownMenu.Item>
          <DropdownMenu.Item
            className="menu-item"
            disabled={ids.length === 0}
            onSelect={() => openRunDialog({ record_ids: ids }, `Compute ${records}`)}
          >
            {ids.length === 0 ? 'Selected records (none selected)' : `Compute ${records}`}
          </DropdownMenu.Item>
          {column !== null && (
            <DropdownMenu.Item
              className="menu-item"
              onSelect={() => openRunDialog({ targets: [column.name] }, `Compute ${column.title}`)}
            >
              Compute this column: {column.title}
            </DropdownMenu.Item>
          )}
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.Label className="menu-label">Compute one column</DropdownMenu.Label>
          {derived.map(({ name, title }) => (
            <DropdownMenu.Item
              key={name}
              className="menu-item"
              onSelect={() => openRunDialog({ targets: [name] }, `Compute ${title}`)}
            >
              {title}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** The run of the records that the list shows. */
function FilteredItem({ filter }: { readonly filter: RecordFilter }) {
  const { data: count } = useQuery(countQuery(filter))
  if (count === undefined) return null
  const records = countOf(count, 'filtered record')
  const run = async (): Promise<void> => {
    const ids = await filteredIds(filter)
    openRunDialog({ record_ids: [...ids] }, `Compute ${records}`)
  }
  return (
    <DropdownMenu.Item
      className="menu-item"
      disabled={count === 0 || count > MAX_FILTERED}
      onSelect={() => void run().catch(showError)}
    >
      Compute {records}
      {count > MAX_FILTERED && ` (at most ${formatCount(MAX_FILTERED)} at once)`}
    </DropdownMenu.Item>
  )
}
