import { Play } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { openPendingRun, openRetryRun, openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { Button } from '../ui/button.tsx'
import '../ui/menu.css'
import { countOf } from '../ui/format.ts'

interface RunMenuProps {
  readonly contract: SheetContract
  /** The field of the selected cell. */
  readonly field: SheetField | null
  readonly checkedIds: ReadonlySet<string>
}

/**
 * The menu of runs: all pending cells, failed cells, checked records, or a column. Each opens a dialog with its plan.
 */
export function RunMenu({ contract, field, checkedIds }: RunMenuProps) {
  const derived = contract.fields.filter((each) => each.derived !== null)
  if (derived.length === 0) return null
  const column = field?.derived === null ? null : field
  const ids = [...checkedIds]
  const records = countOf(ids.length, 'selected record')
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <Button icon={<Play size={14} />}>Run…</Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={6} collisionPadding={8}>
          <DropdownMenu.Item className="menu-item" onSelect={openPendingRun}>
            Compute missing, stale and failed cells
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item" onSelect={openRetryRun}>
            Retry failed cells
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
