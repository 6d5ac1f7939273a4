import { Link } from 'wouter'
import type { SheetField } from '../api/contract.ts'
import { TypeIcon } from '../values/type-icon.tsx'
import { TableHead } from '../ui/table-head.tsx'
import { constraintsOf, writersText, type Constraint } from './constraint-text.ts'
import './fields-table.css'

interface FieldsTableProps {
  readonly fields: readonly SheetField[]
  /** The URL of a field's column in the grid. */
  readonly hrefOf: (field: SheetField) => string
}

const COLUMNS = ['Field', 'Type', 'Constraints', 'Written by', 'Description'].map((name) => ({ name }))

/** The table of the fields, on narrow screens as one card per field. */
export function FieldsTable({ fields, hrefOf }: FieldsTableProps) {
  return (
    <table className="fields-table" role="table">
      <TableHead columns={COLUMNS} />
      <tbody role="rowgroup">
        {fields.map((field) => (
          <FieldRow key={field.name} field={field} href={hrefOf(field)} />
        ))}
      </tbody>
    </table>
  )
}

function FieldRow({ field, href }: { readonly field: SheetField; readonly href: string }) {
  const { name, title, type, itemType, description } = field
  const constraints = constraintsOf(field)
  return (
    <tr role="row">
      <th scope="row" role="rowheader">
        <Link href={href} title="Show the column in the grid">
          {title}
        </Link>
        {title !== name && <code>{name}</code>}
      </th>
      <td role="cell" className="field-type">
        <TypeIcon field={field} />
        {itemType === undefined ? type : `${type} of ${itemType}s`}
      </td>
      <td
        role="cell"
        data-label="Constraints"
        className={constraints.length === 0 ? 'unconstrained' : undefined}
      >
        <Constraints constraints={constraints} />
      </td>
      <td role="cell" data-label="Written by">
        <Writers field={field} />
      </td>
      <td role="cell" className="field-description">
        {description}
      </td>
    </tr>
  )
}

function Constraints({ constraints }: { readonly constraints: readonly Constraint[] }) {
  return (
    <ul className="field-constraints">
      {constraints.map((constraint) => (
        <li key={constraint.kind === 'words' ? constraint.text : constraint.kind}>
          <ConstraintView constraint={constraint} />
        </li>
      ))}
    </ul>
  )
}

function ConstraintView({ constraint }: { readonly constraint: Constraint }) {
  switch (constraint.kind) {
    case 'words':
      return constraint.text
    case 'pattern':
      return (
        <>
          matches <code>{constraint.pattern}</code>
        </>
      )
    case 'values':
      return (
        <>
          one of{' '}
          {constraint.values.map((value, index) => (
            <span key={String(value)}>
              {index > 0 && ', '}
              <code>{String(value)}</code>
            </span>
          ))}
        </>
      )
  }
}

function Writers({ field }: { readonly field: SheetField }) {
  const writers = writersText(field)
  if (field.derived === null) return writers
  const { derivation } = field.derived
  return (
    <>
      <Link href={`/derivations?file=${encodeURIComponent(derivation)}`}>{derivation}</Link>
      <span className="field-writers">{writers === 'read-only' ? writers : `editable by ${writers}`}</span>
    </>
  )
}
