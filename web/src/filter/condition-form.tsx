import { useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useEffect, useState, type RefObject } from 'react'
import type { SheetField } from '../api/contract.ts'
import { summaryQuery } from '../api/queries.ts'
import type { RecordFilter } from '../api/record-filter.ts'
import { TypeIcon } from '../values/type-icon.tsx'
import { OPERATORS, type Condition, type Operator } from '../state/conditions.ts'
import { FormFault } from '../ui/form-fault.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import '../ui/form.css'
import './condition-form.css'
import { draftOf, firstOperator, toCondition, type Draft } from './draft.ts'
import { OperandInput } from './operand-input.tsx'
import { operatorLabel, operatorsFor } from './operators-for.ts'
import type { Closing } from './use-closing.ts'

interface ConditionFormProps {
  readonly field: SheetField
  /** The one to change; null to make one. */
  readonly condition: Condition | null
  /** What the records are filtered by beside it. */
  readonly otherFilter: RecordFilter | null
  readonly closing: RefObject<Closing | null>
  /** With the condition as it is now; null to leave everything as it was. */
  readonly onDone: (condition: Condition | null) => void
  readonly onRemove?: () => void
  readonly onBack?: () => void
}

/** The operator and the value of a condition. */
export function ConditionForm(props: ConditionFormProps) {
  const { field, condition, otherFilter, closing, onDone, onRemove, onBack } = props
  // Only texts begin differently when they have few values, and those are shown next.
  const { data: summary, isPending } = useQuery({
    ...summaryQuery(field.name, otherFilter),
    enabled: hasTop(field),
  })
  const distinct = summary?.distinct ?? null
  const [written, setDraft] = useState<Draft | null>(null)
  const [showsFault, setShowsFault] = useState(false)
  const draft = written ?? initialDraft(field, condition, distinct)
  const drafted = toCondition(field, draft)
  const isList = OPERATORS[draft.is] === 'list'

  const finish = (): void => {
    if ('condition' in drafted) onDone(drafted.condition)
    else if (isList && onRemove !== undefined) onRemove()
    else setShowsFault(true)
  }
  useEffect(() => {
    closing.current = (by) => {
      // What was picked is picked; what was typed counts only when it is left, not when it is given up.
      if (written !== null && 'condition' in drafted && (isList || by === 'outside'))
        onDone(drafted.condition)
    }
    return () => {
      closing.current = null
    }
  })
  const offered = operatorsFor(field)
  const operators = offered.includes(draft.is) ? offered : [draft.is, ...offered]
  // The first operator depends on it: nothing should jump under the hands.
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
        <TypeIcon field={field} />
        <strong className="condition-field" title={field.name}>
          {field.title}
        </strong>
        <select
          className="input condition-operator"
          aria-label="Operator"
          value={draft.is}
          onChange={(event) => {
            const is = operators.find((each) => each === event.target.value) ?? draft.is
            setShowsFault(false)
            setDraft({ ...draft, is })
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
          // Each has the focus when it comes.
          key={inputOf(draft.is)}
          field={field}
          draft={draft}
          otherFilter={otherFilter}
          onDraft={(changed) => {
            setShowsFault(false)
            setDraft(changed)
          }}
        />
      )}
      {showsFault && 'fault' in drafted && <FormFault text={drafted.fault} />}
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
  return OPERATORS[is]
}
