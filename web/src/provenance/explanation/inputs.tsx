import type { SheetContract, SheetField } from '../../api/contract.ts'
import { CellValueView } from '../../values/cell-value-view.tsx'
import type { CellRef } from '../../state/view-state.ts'

interface InputsProps {
  readonly contract: SheetContract
  readonly field: SheetField
  readonly cell: CellRef
  readonly record: Readonly<Record<string, unknown>> | undefined
  readonly onSelect: (cell: CellRef) => void
}

/** The inputs of a cell, and the cells for which it is an input. */
export function Inputs({ contract, field, cell, record, onSelect }: InputsProps) {
  const named = (names: readonly string[]): readonly SheetField[] =>
    names.map((name) => contract.fieldByName.get(name)).filter((found) => found !== undefined)
  const inputs = named(field.derived?.inputs ?? [])
  const users = contract.fields.filter(({ derived }) => derived?.inputs.includes(field.name) === true)
  if (inputs.length === 0 && users.length === 0) return null
  const list = (title: string, fields: readonly SheetField[]) =>
    fields.length > 0 && (
      <div className="kin">
        <h3>{title}</h3>
        <ul>
          {fields.map(({ name, title: fieldTitle, type }) => (
            <li key={name}>
              <button
                type="button"
                className="kin-cell"
                onClick={() => onSelect({ recordId: cell.recordId, field: name })}
              >
                <span className="kin-title">{fieldTitle}</span>
                {record !== undefined && <CellValueView type={type} value={record[name]} />}
              </button>
            </li>
          ))}
        </ul>
      </div>
    )
  return (
    <section className="panel-section" aria-label="Inputs and dependent cells">
      {list('Computed from', inputs)}
      {list('Used to compute', users)}
    </section>
  )
}
