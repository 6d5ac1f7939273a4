import { X } from 'lucide-react'
import { Popover } from 'radix-ui'
import type { SheetField } from '../api/contract.ts'
import { recordFilter, type RecordFilter } from '../api/record-filter.ts'
import { TypeIcon } from '../values/type-icon.tsx'
import { ANY_COLUMN, hasForm, type Condition } from '../state/conditions.ts'
import '../ui/popover.css'
import { ConditionForm } from './condition-form.tsx'
import { conditionSentence, conditionText } from './condition-text.ts'
import { useClosing } from './use-closing.ts'
import { failuresQuery } from '../api/queries.ts'
import { conditionsToData } from '../state/condition-data.ts'
import { stateName } from '../ui/state-names.ts'
import { useQuery } from '@tanstack/react-query'

interface ConditionChipProps {
  readonly condition: Condition
  /** Null if the contract has no such field. */
  readonly field: SheetField | null
  /** The field of a condition on any column. */
  readonly anyColumn: SheetField
  /** The filter without this condition. */
  readonly otherFilter: RecordFilter | null
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
  readonly onChange: (condition: Condition) => void
  readonly onRemove: () => void
}

/** A chip of a condition: a click edits it, its cross or Backspace removes it. */
export function ConditionChip(props: ConditionChipProps) {
  const { condition, field, anyColumn, otherFilter, isOpen, onOpen, onChange, onRemove } = props
  const { closing, onEscapeKeyDown, onClose } = useClosing()
  const setOpen = (open: boolean): void => {
    if (!open) onClose()
    onOpen(open)
  }
  const formField = field ?? (condition.field === ANY_COLUMN ? anyColumn : null)
  const isUnknown = formField === null
  const nameOf = useNames(condition)
  const text = conditionText(condition, field, nameOf)
  const sentence = conditionSentence(condition, field, nameOf)
  return (
    <Popover.Root open={isOpen && formField !== null && hasForm(condition.is)} onOpenChange={setOpen}>
      <div className={isUnknown ? 'filter-chip unknown' : 'filter-chip'}>
        <Popover.Trigger asChild>
          <button
            type="button"
            className="filter-chip-text"
            data-chip
            title={isUnknown ? `The contract has no field ${condition.field}` : sentence}
            aria-description="Backspace removes it"
            onKeyDown={(event) => {
              if (event.key !== 'Backspace' && event.key !== 'Delete') return
              event.preventDefault()
              onRemove()
            }}
          >
            {field !== null && <TypeIcon field={field} />}
            <span className="filter-chip-field">{text.field}</span>{' '}
            <span className="filter-chip-operator">{text.operator}</span>{' '}
            {text.value !== '' && <span className="filter-chip-value">{text.value}</span>}
          </button>
        </Popover.Trigger>
        <button
          type="button"
          className="filter-chip-remove"
          aria-label={`Remove filter: ${sentence}`}
          onClick={onRemove}
        >
          <X size={13} />
        </button>
      </div>
      {formField !== null && (
        <Popover.Portal>
          <Popover.Content
            className="popover filter-popover"
            align="start"
            sideOffset={6}
            collisionPadding={12}
            aria-label={`Change the filter on ${text.field}`}
            onEscapeKeyDown={onEscapeKeyDown}
          >
            <ConditionForm
              field={formField}
              condition={condition}
              otherFilter={otherFilter}
              closing={closing}
              onDone={(changed) => {
                if (changed !== null) onChange(changed)
                onOpen(false)
              }}
              onRemove={onRemove}
            />
          </Popover.Content>
        </Popover.Portal>
      )}
    </Popover.Root>
  )
}

/** Returns what names the operands of a condition on cells: groups of failures have an id, which says nothing to people. */
function useNames(condition: Condition): (name: unknown) => string {
  const isOnFailures = condition.is === 'failedWith'
  // Only the cells of these groups: the list of all has the largest.
  const filter = recordFilter({ where: conditionsToData([condition]), sql: null })
  const { data } = useQuery({ ...failuresQuery(filter), enabled: isOnFailures })
  if (!isOnFailures) return stateName
  if (data === undefined) return () => '…'
  return (id) => data.groups.find((group) => group.id === id)?.text ?? 'an error that no cell has now'
}
