import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { conditionTextQuery, countQuery } from '../api/queries.ts'
import { recordFilter } from '../api/record-filter.ts'
import { conditionsToData } from '../state/condition-data.ts'
import { isOfCell } from '../state/conditions.ts'
import type { ViewChange, ViewState } from '../state/view-state.ts'
import { FormError } from '../ui/form-error.tsx'
import { Button } from '../ui/button.tsx'
import '../ui/form.css'
import './sql-filter-editor.css'
import { SqlInput } from './sql-input.tsx'

interface SqlFilterEditorProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
  readonly onClose: () => void
}

/**
 * Edits the whole filter as one SQL expression. The server tests it first; errors are shown here and leave the filter
 * unchanged. An unchanged text keeps the conditions. Conditions on states of cells are kept beside the text: SQL cannot
 * express them.
 */
export function SqlFilterEditor(props: SqlFilterEditorProps) {
  const { conditions, sql } = props.view
  const [where] = useState(() => conditionsToData(conditions.filter(({ is }) => !isOfCell(is))))
  const { data, error } = useQuery({ ...conditionTextQuery(where ?? NO_CONDITION), enabled: where !== null })
  if (where === null) return <SqlForm {...props} before={sql ?? ''} />
  if (error !== null) return <SqlForm {...props} before={sql ?? ''} initialError={messageOf(error)} />
  if (data === undefined) return <div className="filter-sql" aria-busy="true" />
  return <SqlForm {...props} before={sql === null ? data : `(${data}) AND (${sql})`} />
}

/** A placeholder for a disabled query. */
const NO_CONDITION = { and: [] }

interface SqlFormProps extends SqlFilterEditorProps {
  /** The filter before editing. */
  readonly before: string
  readonly initialError?: string
}

function SqlForm({ contract, view, change, onClose, before, initialError }: SqlFormProps) {
  const client = useQueryClient()
  const [text, setText] = useState(before)
  const [error, setError] = useState<string | null>(initialError ?? null)
  const [isTrying, setIsTrying] = useState(false)
  const cancel = useRef<HTMLButtonElement>(null)
  const hintId = useId()
  const isChanged = text.trim() !== before.trim()

  const apply = async (): Promise<void> => {
    const sql = text.trim()
    if (!isChanged) {
      onClose()
      return
    }
    setIsTrying(true)
    const found = sql === '' ? null : await errorOf(sql)
    setIsTrying(false)
    setError(found)
    if (found !== null) return
    const kept = view.conditions.filter(({ is }) => isOfCell(is))
    change({ conditions: kept, sql: sql === '' ? null : sql })
    onClose()
  }
  const errorOf = async (sql: string): Promise<string | null> => {
    try {
      await client.fetchQuery(countQuery(recordFilter({ where: null, sql })))
      return null
    } catch (thrown) {
      return messageOf(thrown)
    }
  }
  return (
    <div className="filter-sql">
      <SqlInput
        fields={contract.fields}
        dialect={contract.dialect}
        text={text}
        onText={(changed) => {
          setText(changed)
          setError(null)
        }}
        isInvalid={error !== null}
        describedBy={hintId}
        onEnter={() => void apply()}
        // One key must not discard the input.
        onEscape={() => (isChanged ? cancel.current?.focus() : onClose())}
      />
      <Button look="primary" aria-disabled={isTrying} onClick={() => void (isTrying || apply())}>
        Apply
      </Button>
      <button
        ref={cancel}
        type="button"
        className="button quiet"
        onClick={onClose}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose()
        }}
      >
        {view.conditions.length > 0 ? 'Back to the conditions' : 'Cancel'}
      </button>
      {error === null ? (
        <p className="form-hint" id={hintId}>
          One SQL expression over the fields. Enter applies, Shift+Enter adds a line.
        </p>
      ) : (
        <FormError text={error} id={hintId} />
      )}
    </div>
  )
}
