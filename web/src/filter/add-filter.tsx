import { ListFilterPlus } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useState } from 'react'
import type { SheetContract, SheetField } from '../api/contract.ts'
import type { RecordFilter } from '../api/record-filter.ts'
import type { Condition } from '../state/conditions.ts'
import { Button } from '../ui/button.tsx'
import '../ui/popover.css'
import { anyColumn } from './any-column.ts'
import { ConditionForm } from './condition-form.tsx'
import { FieldList } from './field-list.tsx'
import { useClosing } from './use-closing.ts'

interface AddFilterProps {
  readonly contract: SheetContract
  /** The present filter. */
  readonly filter: RecordFilter | null
  readonly hasOthers: boolean
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
  readonly onAdd: (condition: Condition) => void
}

/** Adds a condition: first its field, then its operator and value. */
export function AddFilter({ contract, filter, hasOthers, isOpen, onOpen, onAdd }: AddFilterProps) {
  const [field, setField] = useState<SheetField | null>(null)
  const { closing, onEscapeKeyDown, onClose } = useClosing()
  const setOpen = (open: boolean): void => {
    setField(null)
    onOpen(open)
  }
  return (
    <Popover.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (!open) onClose()
        setOpen(open)
      }}
    >
      <Popover.Trigger asChild>
        <Button
          look="quiet"
          className="filter-add"
          data-add
          icon={<ListFilterPlus size={15} />}
          aria-keyshortcuts="/"
          title="Add a filter ( / )"
          aria-label="Add filter"
        >
          {!hasOthers && <span>Add filter</span>}
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className={field === null ? 'popover filter-popover filter-fields' : 'popover filter-popover'}
          align="start"
          sideOffset={6}
          collisionPadding={12}
          aria-label={field === null ? 'Add a filter: which field?' : `Add a filter on ${field.title}`}
          onEscapeKeyDown={onEscapeKeyDown}
        >
          {field === null ? (
            <FieldList fields={[...contract.fields, anyColumn(contract)]} onChoose={setField} />
          ) : (
            <ConditionForm
              field={field}
              condition={null}
              otherFilter={filter}
              closing={closing}
              onBack={() => setField(null)}
              onDone={(condition) => {
                if (condition !== null) onAdd(condition)
                setOpen(false)
              }}
            />
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
