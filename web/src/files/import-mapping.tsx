import { ArrowRight } from 'lucide-react'
import type { FieldType, SheetContract } from '../api/contract.ts'
import { TYPE_NAMES } from '../columns/type-select.tsx'
import { TableHead } from '../ui/table-head.tsx'
import { formatValue } from '../values/format-value.ts'
import { newFieldOf, type ColumnChoice, type ColumnChoices, type FileColumn } from './column-choices.ts'

interface ImportMappingProps {
  readonly contract: SheetContract
  readonly columns: readonly FileColumn[]
  readonly choices: ColumnChoices
  /** Whether columns can become new fields. */
  readonly mayAddFields: boolean
  readonly disabled: boolean
  readonly onChange: (choices: ColumnChoices) => void
}

/** The columns of a file with samples, and the field of each. */
export function ImportMapping({ columns, choices, onChange, ...rest }: ImportMappingProps) {
  return (
    <div className="import-table" tabIndex={0} role="region" aria-label="Columns">
      <table role="table">
        <TableHead
          columns={[{ name: 'Column' }, { name: 'First values' }, { name: 'Field' }, { name: 'Type' }]}
        />
        <tbody role="rowgroup">
          {columns.map((column) => (
            <ColumnRow
              key={column.name}
              column={column}
              choice={choices.get(column.name) ?? { to: 'nothing' }}
              onChange={(choice) => onChange(new Map(choices).set(column.name, choice))}
              {...rest}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface ColumnRowProps extends Pick<ImportMappingProps, 'contract' | 'mayAddFields' | 'disabled'> {
  readonly column: FileColumn
  readonly choice: ColumnChoice
  readonly onChange: (choice: ColumnChoice) => void
}

const NOTHING = ' nothing'
const NEW = ' new'

function ColumnRow({ contract, column, choice, mayAddFields, disabled, onChange }: ColumnRowProps) {
  const { name, samples } = column
  const choose = (value: string): void => {
    if (value === NOTHING) onChange({ to: 'nothing' })
    else if (value === NEW) onChange(newFieldOf(column))
    else onChange({ to: 'field', field: value })
  }
  const field = choice.to === 'field' ? contract.fieldByName.get(choice.field) : undefined
  return (
    <tr role="row" className={choice.to === 'nothing' ? 'left-out' : ''}>
      <th role="rowheader" scope="row" title={name}>
        {name}
      </th>
      <td role="cell" className="import-samples">
        {samples.map((sample) => formatValue(null, sample)).join(', ')}
      </td>
      <td role="cell">
        <span className="import-target">
          <ArrowRight size={14} />
          <select
            aria-label={`Field of the column ${name}`}
            value={choice.to === 'field' ? choice.field : choice.to === 'new' ? NEW : NOTHING}
            disabled={disabled}
            onChange={(event) => choose(event.currentTarget.value)}
          >
            <option value={NOTHING}>Do not import</option>
            {mayAddFields && <option value={NEW}>New field: {column.new_field.name}</option>}
            {contract.fields.map((each) => (
              <option key={each.name} value={each.name}>
                {each.title}
                {each.primaryKey ? ' (identifies the record)' : ''}
              </option>
            ))}
          </select>
        </span>
      </td>
      <td role="cell">
        {choice.to === 'new' ? (
          <select
            aria-label={`Type of the column ${name}`}
            value={choice.type}
            disabled={disabled}
            onChange={(event) => onChange({ ...choice, type: event.currentTarget.value as FieldType })}
          >
            {Object.entries(TYPE_NAMES).map(([type, title]) => (
              <option key={type} value={type}>
                {title}
              </option>
            ))}
          </select>
        ) : (
          field !== undefined && TYPE_NAMES[field.type]
        )}
      </td>
    </tr>
  )
}
