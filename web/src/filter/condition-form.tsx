import { useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useEffect, useState, type RefObject } from 'react'
import type { SheetField } from '../api/contract.ts'
import { summaryQuery } from '../api/queries.ts'
import type { RecordFilter } from '../api/record-filter.ts'
import { ANY_COLUMN, isOfCell, OPERATORS, type Condition, type Operator } from '../state/conditions.ts'
import { FormError } from '../ui/form-error.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import '../ui/form.css'
import './condition-form.css'
import { draftOf, firstOperator, toCondition, type Draft } from './draft.ts'
import { FieldIcon } from './field-icon.tsx'
import { OperandInput } from './operand-input.tsx'
import { operatorLabel, operatorsFor } from './operators-for.ts'
import type { Closing } from './use-closing.ts'

interface ConditionFormProps {
  readonly field: SheetField
  /** The condition to edit; null for a new one. */
  readonly condition: Condition | null
  /** The filter without this condition. */
  readonly otherFilter: RecordFilter | null
  readonly closing: RefObject<Closing | null>
  /** Called with the condition; null to change nothing. */
  readonly onDone: (condition: Condition | null) => void
  readonly onRemove?: () => void
  readonly onBack?: () => void
}

/** The form of the operator and the value of a condition. */
export function ConditionForm(props: ConditionFormProps) {
  const { field, condition, otherFilter, closing, onDone, onRemove, onBack } = props
  // Only the first operator of text fields depends on the summary.
  const { data: summary, isPending } = useQuery({
    ...summaryQuery(field.name, otherFilter),
    enabled: hasTop(field),
  })
  const distinct = summary?.distinct ?? null
  const [written, setDraft] = useState<Draft | null>(null)
  const [showsError, setShowsError] = useState(false)
  const draft = written ?? initialDraft(field, condition, distinct)
  const drafted = toCondition(field, draft)
  const isList = OPERATORS[draft.is] === 'list'

  const finish = (): void => {
    if ('condition' in drafted) onDone(drafted.condition)
    else if (isList && onRemove !== undefined) onRemove()
    else setShowsError(true)
  }
  useEffect(() => {
    closing.current = (by) => {
      // Picked values apply at once; typed text applies unless it was cancelled by Escape.
      if (written !== null && 'condition' in drafted && (isList || by === 'outside'))
        onDone(drafted.condition)
    }
    return () => {
      closing.current = null
    }
  })
  const offered = operatorsFor(field)
  const operators = offered.includes(draft.is) ? offered : [draft.is, ...offered]
  // The first operator depends on the summary, so the form waits for it instead of changing under the user.
  const isWaiting = condition === null && hasTop(field) && field.values === null && isPending
  return (
    <form
      className="condition-form"
      onSubmit={(event) => {
        event.preventDefault()
        finish()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault()
          finish()
        }
      }}
    >
      <div className="condition-head">
        {onBack !== undefined && (
          <IconButton label="Choose another field" onClick={onBack}>
            <ArrowLeft size={15} />
          </IconButton>
        )}
        <FieldIcon field={field} />
        <strong className="condition-field" title={field.name === ANY_COLUMN ? undefined : field.name}>
          {field.title}
        </strong>
        <select
          className="input condition-operator"
          aria-label="Operator"
          value={draft.is}
          onChange={(event) => {
            const is = operators.find((each) => each === event.target.value) ?? draft.is
            setShowsError(false)
            // States, verdicts, writers and values are no items of each other.
            const items = inputOf(is) === inputOf(draft.is) ? draft.items : []
            setDraft({ ...draft, is, items })
          }}
        >
          {operators.map((is) => (
            <option key={is} value={is}>
              {operatorLabel(is, field.type)}
            </option>
          ))}
        </select>
      </div>
      {!isWaiting && (
        <OperandInput
          // Remounted, so that the new input gets the focus.
          key={inputOf(draft.is)}
          field={field}
          draft={draft}
          otherFilter={otherFilter}
          onDraft={(changed) => {
            setShowsError(false)
            setDraft(changed)
          }}
        />
      )}
      {showsError && 'error' in drafted && <FormError text={drafted.error} />}
      <div className="condition-actions">
        {onRemove !== undefined && (
          <Button look="quiet" onClick={onRemove}>
            Remove
          </Button>
        )}
        <Button look="primary" type="submit">
          {condition === null ? 'Add filter' : 'Apply'}
        </Button>
      </div>
    </form>
  )
}

function hasTop({ type }: SheetField): boolean {
  return type === 'string'
}

function initialDraft(field: SheetField, condition: Condition | null, distinct: number | null): Draft {
  const draft = draftOf(field, condition)
  return condition === null && field.values === null
    ? { ...draft, is: firstOperator(field, distinct) }
    : draft
}

function inputOf(is: Operator): string {
  if (is === 'reviewed' || is === 'writtenBy' || is === 'writtenIn') return is
  return isOfCell(is) ? 'states' : OPERATORS[is]
}
