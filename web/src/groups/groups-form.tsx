import type { ReactNode } from 'react'
import type { SheetContract, SheetField } from '../api/contract.ts'
import type { GroupPeriod, GroupsView } from '../state/view-state.ts'
import '../ui/form.css'
import { isGroupable } from './group-conditions.ts'

interface GroupsFormProps {
  readonly contract: SheetContract
  readonly groups: GroupsView
  readonly onChange: (groups: GroupsView) => void
  /** The actions on the choices. */
  readonly children: ReactNode
}

const PERIODS: Readonly<Record<GroupPeriod, string>> = { day: 'Day', month: 'Month', year: 'Year' }

/** The choices of what is grouped, divided and added up. */
export function GroupsForm({ contract, groups, onChange, children }: GroupsFormProps) {
  const grouped = contract.fieldByName.get(groups.by)
  const groupable = contract.fields.filter(isGroupable)
  const numbers = contract.fields.filter(({ type }) => type === 'number' || type === 'integer')
  return (
    <div className="groups-form">
      <Choice label="Group by" value={groups.by} onChange={(by) => onChange({ ...groups, by })}>
        {groupable.map(optionOf)}
      </Choice>
      {(grouped?.type === 'date' || grouped?.type === 'timestamp') && (
        <Choice
          label="Period"
          value={groups.period}
          onChange={(period) => onChange({ ...groups, period: period as GroupPeriod })}
        >
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
      <div className="groups-actions">{children}</div>
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
