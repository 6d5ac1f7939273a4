import type { ReactNode } from 'react'
import type { SheetContract, SheetField } from '../api/contract.ts'
import type { GroupsView } from '../state/view-state.ts'
import type { GroupPeriod } from '../summary/use-summary.ts'
import '../ui/form.css'
import { isGroupable } from './group-conditions.ts'

interface GroupsFormProps {
  readonly contract: SheetContract
  readonly groups: GroupsView
  /** The length of time by which moments are grouped; null for other fields. */
  readonly period: GroupPeriod | null
  readonly onChange: (groups: GroupsView) => void
  readonly onPeriod: (period: GroupPeriod) => void
}

const PERIODS: Readonly<Record<GroupPeriod, string>> = { day: 'Day', month: 'Month', year: 'Year' }

/** The choices of what is grouped, divided and added up. */
export function GroupsForm({ contract, groups, period, onChange, onPeriod }: GroupsFormProps) {
  const groupable = contract.fields.filter(isGroupable)
  const numbers = contract.fields.filter(({ type }) => type === 'number' || type === 'integer')
  return (
    <div className="groups-form">
      <Choice label="Group by" value={groups.by} onChange={(by) => onChange({ ...groups, by })}>
        {groupable.map(optionOf)}
      </Choice>
      {period !== null && (
        <Choice label="Period" value={period} onChange={(next) => onPeriod(next as GroupPeriod)}>
          {Object.entries(PERIODS).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </Choice>
      )}
      <Choice
        label="Split by"
        value={groups.split ?? ''}
        onChange={(split) => onChange({ ...groups, split: split || null })}
      >
        <option value="">Nothing</option>
        {groupable.filter(({ name, primaryKey }) => name !== groups.by && !primaryKey).map(optionOf)}
      </Choice>
      <Choice
        label="Show"
        value={groups.total ?? ''}
        onChange={(total) => onChange({ ...groups, total: total || null })}
      >
        <option value="">Number of records</option>
        {numbers.map(({ name, title }) => (
          <option key={name} value={name}>
            Sum of {title}
          </option>
        ))}
      </Choice>
    </div>
  )
}

function optionOf({ name, title }: SheetField) {
  return (
    <option key={name} value={name}>
      {title}
    </option>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly children: ReactNode
}

function Choice({ label, value, onChange, children }: ChoiceProps) {
  return (
    <label>
      <span>{label}</span>
      <select className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        {children}
      </select>
    </label>
  )
}
