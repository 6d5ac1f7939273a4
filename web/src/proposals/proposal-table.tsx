import { useQuery } from '@tanstack/react-query'
import { useState, type KeyboardEvent } from 'react'
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
import { isWhole, partKey, tickedState, toggled, waitingKeys, type Ticked } from './proposal-parts.ts'
import { recordNamesQuery } from './proposal-queries.ts'
import { ProposalState } from './proposal-state.tsx'
import { isShown, CHANGE_TEXTS } from './proposal-text.ts'
import './proposal-table.css'

/** The number of records shown at first. */
const SHOWN_AT_ONCE = 50

interface ProposalTableProps {
  readonly contract: SheetContract
  readonly proposal: ProposalAnswer
  readonly ticked: Ticked
  readonly onTicked: (ticked: Ticked) => void
}

/** The changes of a proposal: a row for each record, a column for each field, and checkboxes for what waits. */
export function ProposalTable({ contract, proposal, ticked, onTicked }: ProposalTableProps) {
  const [most, setMost] = useState(SHOWN_AT_ONCE)
  const { records } = proposal
  const shown = records.slice(0, most)
  const more = records.length - shown.length
  const names = useNames(contract, shown)
  const fields = changedFields(contract, records)
  const toggle = (keys: readonly string[]): void => onTicked(toggled(ticked, keys))
  const all = records.flatMap(waitingKeys)
  return (
    <div className="proposal-changes">
      {/* Arrow keys move between the checkboxes; Tab reaches each of them too. */}
      <table className="proposal-table" onKeyDown={moveTick}>
        <caption className="visually-hidden">Changes by record and field</caption>
        <thead>
          <tr>
            <th>
              <Tick label="All changes" keys={all} ticked={ticked} onToggle={toggle} />
            </th>
            <th scope="col">Record</th>
            {fields.map((field) => {
              const title = contract.titleOf(field)
              return (
                <th key={field} scope="col" title={field}>
                  <span className="proposal-column">
                    <Tick
                      label={`All of ${title}`}
                      keys={records.flatMap((record) => keysOfField(record, field))}
                      ticked={ticked}
                      onToggle={toggle}
                    />
                    {title}
                  </span>
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>
          {shown.map((record) => (
            <RecordRow
              key={record.record_id}
              contract={contract}
              record={record}
              name={names.get(record.record_id) ?? null}
              fields={fields}
              ticked={ticked}
              onToggle={toggle}
            />
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <Button onClick={() => setMost(most + SHOWN_AT_ONCE)}>
          Show more ({countOf(more, 'record')} left)
        </Button>
      )}
    </div>
  )
}

/** Returns the names of the fields that a proposal changes, in the contract's order. */
function changedFields(
  { fields }: SheetContract,
  records: readonly RecordDifferenceAnswer[],
): readonly string[] {
  const names = new Set(records.flatMap((record) => record.fields.filter(isShown).map(({ field }) => field)))
  const known = fields.map(({ name }) => name).filter((name) => names.delete(name))
  return [...known, ...names]
}

function keysOfField(record: RecordDifferenceAnswer, field: string): readonly string[] {
  if (isWhole(record)) return []
  const waits = record.fields.some((one) => one.field === field && one.decision === null)
  return waits ? [partKey(record, field)] : []
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

interface TickProps {
  readonly label: string
  /** The parts that it ticks; without any, there is no checkbox. */
  readonly keys: readonly string[]
  readonly ticked: Ticked
  readonly onToggle: (keys: readonly string[]) => void
}

function Tick({ label, keys, ticked, onToggle }: TickProps) {
  if (keys.length === 0) return null
  const state = tickedState(ticked, keys)
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={state === 'all'}
      ref={(box) => {
        if (box !== null) box.indeterminate = state === 'some'
      }}
      onChange={() => onToggle(keys)}
    />
  )
}

const CHANGES = { create: 'new', update: 'change', delete: 'delete' } as const

interface RecordRowProps extends Pick<TickProps, 'ticked' | 'onToggle'> {
  readonly contract: SheetContract
  readonly record: RecordDifferenceAnswer
  readonly name: string | null
  readonly fields: readonly string[]
}

function RecordRow({ contract, record, name, fields, ticked, onToggle }: RecordRowProps) {
  const { record_id: id, change, moved, decision } = record
  const byField = new Map(record.fields.filter(isShown).map((field) => [field.field, field]))
  const [first] = byField.keys()
  return (
    <tr className={change} aria-label={`Record ${id}`}>
      <td>
        <Tick label={`All of record ${id}`} keys={waitingKeys(record)} ticked={ticked} onToggle={onToggle} />
      </td>
      <th scope="row">
        <span className="proposal-record">
          <span className={`proposal-change ${change}`}>{CHANGES[change]}</span>
          {change === 'create' ? (
            <code>{id}</code>
          ) : (
            <Link href={cellPath({ recordId: id, field: first ?? 'id' })}>
              <code>{id}</code>
            </Link>
          )}
          {name !== null && <span className="proposal-name">{name}</span>}
          {isWhole(record) && decision !== null && <ProposalState state={decision} />}
        </span>
        {moved !== null && <span className="proposal-conflict">{CHANGE_TEXTS[moved]}</span>}
      </th>
      {fields.map((field) => (
        <ChangedCell
          key={field}
          contract={contract}
          record={record}
          difference={byField.get(field) ?? null}
          ticked={ticked}
          onToggle={onToggle}
        />
      ))}
    </tr>
  )
}

interface ChangedCellProps extends Pick<TickProps, 'ticked' | 'onToggle'> {
  readonly contract: SheetContract
  readonly record: RecordDifferenceAnswer
  /** Null for a field that the proposal does not change. */
  readonly difference: FieldDifferenceAnswer | null
}

function ChangedCell({ contract, record, difference, ticked, onToggle }: ChangedCellProps) {
  if (difference === null) return <td />
  const { field, was, now, proposed, moved, decision } = difference
  const { change, record_id: id } = record
  const type = contract.fieldByName.get(field)?.type ?? null
  return (
    <td className={moved ? 'moved' : undefined}>
      {/* The value is the label's text as well, so that a click on it ticks. */}
      <label className="proposal-cell">
        <Tick
          label={`${contract.titleOf(field)} of ${id}`}
          keys={keysOfField(record, field)}
          ticked={ticked}
          onToggle={onToggle}
        />
        <span className="proposal-values">
          {change === 'create' ? (
            <ins>
              <CellValueView type={type} value={proposed} />
            </ins>
          ) : change === 'delete' ? (
            <del>
              <CellValueView type={type} value={was ?? now} />
            </del>
          ) : (
            <ValueChange type={type} was={was} is={proposed} />
          )}
          {moved && (
            <span className="proposal-now">
              Now <CellValueView type={type} value={now} />
            </span>
          )}
          {!isWhole(record) && decision !== null && <ProposalState state={decision} />}
        </span>
      </label>
    </td>
  )
}

const STEPS: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/** Moves the focus from a checkbox of the table to the next one in the direction of an arrow key. */
function moveTick(event: KeyboardEvent<HTMLTableElement>): void {
  const step = STEPS[event.key]
  const { target, currentTarget: table } = event
  if (step === undefined || !(target instanceof HTMLInputElement)) return
  const cell = target.closest('td, th')
  const row = cell?.parentElement
  if (!(cell instanceof HTMLTableCellElement) || !(row instanceof HTMLTableRowElement)) return
  let [y, x] = [row.rowIndex, cell.cellIndex]
  for (;;) {
    y += step[0]
    x += step[1]
    const next = table.rows[y]?.cells[x]
    if (next === undefined) return
    const box = next.querySelector('input')
    if (box === null) continue
    box.focus()
    event.preventDefault()
    return
  }
}
