import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type {
  FieldDifferenceAnswer,
  ProposalAnswer,
  RecordDifferenceAnswer,
} from '../../../src/wire/records/proposals.ts'
import type { SheetContract } from '../api/contract.ts'
import { CellValueView } from '../values/cell-value-view.tsx'
import '../provenance/history/history.css'
import { nameField } from '../values/name-field.ts'
import { ValueChange } from '../provenance/diff/value-change.tsx'
import { cellPath } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import { countOf } from '../ui/format.ts'
import { recordNamesQuery } from './proposal-queries.ts'
import { isShown, CHANGE_TEXTS } from './proposal-text.ts'
import './record-differences.css'

/** The number of records shown at first. */
const SHOWN_AT_ONCE = 50

interface RecordDifferencesProps {
  readonly contract: SheetContract
  readonly proposal: ProposalAnswer
}

/** The changes of a proposal, by record. */
export function RecordDifferences({ contract, proposal }: RecordDifferencesProps) {
  const [most, setMost] = useState(SHOWN_AT_ONCE)
  const shown = proposal.records.slice(0, most)
  const more = proposal.records.length - shown.length
  const names = useNames(contract, shown)
  return (
    <div className="differences">
      {shown.map((record) => (
        <RecordCard
          key={record.record_id}
          contract={contract}
          record={record}
          name={names.get(record.record_id) ?? null}
        />
      ))}
      {more > 0 && (
        <Button onClick={() => setMost(most + SHOWN_AT_ONCE)}>
          Show more ({countOf(more, 'record')} left)
        </Button>
      )}
    </div>
  )
}

/** Returns the names of existing records, by id. */
function useNames(
  contract: SheetContract,
  records: readonly RecordDifferenceAnswer[],
): ReadonlyMap<string, string> {
  const field = nameField(contract.fields)?.name ?? 'id'
  const ids = records.filter(({ change }) => change !== 'create').map(({ record_id: id }) => id)
  const isAsked = field !== 'id' && ids.length > 0
  const { data } = useQuery({ ...recordNamesQuery(ids, field), enabled: isAsked })
  return isAsked && data !== undefined ? data : NONE
}

const NONE: ReadonlyMap<string, string> = new Map()

const CHANGES = { create: 'new', update: 'change', delete: 'delete' } as const

interface RecordCardProps {
  readonly contract: SheetContract
  readonly record: RecordDifferenceAnswer
  readonly name: string | null
}

function RecordCard({ contract, record, name }: RecordCardProps) {
  const { record_id: id, change, moved } = record
  const fields = record.fields.filter(isShown)
  const [first] = fields
  return (
    <article className={`difference ${change}`} aria-label={`Record ${id}`}>
      <header>
        <span className={`difference-kind ${change}`}>{CHANGES[change]}</span>
        {change === 'create' ? (
          <code>{id}</code>
        ) : (
          <Link href={cellPath({ recordId: id, field: first?.field ?? 'id' })}>
            <code>{id}</code>
          </Link>
        )}
        {name !== null && <span className="difference-name">{name}</span>}
        {moved !== null && <span className="difference-moved">{CHANGE_TEXTS[moved]}</span>}
      </header>
      {fields.length > 0 && (
        <dl>
          {fields.map((field) => (
            <FieldRow key={field.field} contract={contract} change={change} field={field} />
          ))}
        </dl>
      )}
    </article>
  )
}

interface FieldRowProps {
  readonly contract: SheetContract
  readonly change: RecordDifferenceAnswer['change']
  readonly field: FieldDifferenceAnswer
}

function FieldRow({ contract, change, field }: FieldRowProps) {
  const known = contract.fieldByName.get(field.field)
  const type = known?.type ?? null
  return (
    <div className={field.moved ? 'moved' : ''}>
      <dt title={field.field}>{known?.title ?? field.field}</dt>
      <dd>
        {change === 'create' ? (
          <ins>
            <CellValueView type={type} value={field.proposed} />
          </ins>
        ) : change === 'delete' ? (
          <del>
            <CellValueView type={type} value={field.was ?? field.now} />
          </del>
        ) : (
          <ValueChange type={type} was={field.was} is={field.proposed} />
        )}
        {field.moved && (
          <p className="difference-now">
            Now <CellValueView type={type} value={field.now} />
          </p>
        )}
      </dd>
    </div>
  )
}
