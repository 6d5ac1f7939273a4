import { Command } from 'cmdk'
import type { SheetField } from '../api/contract.ts'
import { ANY_COLUMN } from '../state/conditions.ts'
import { FieldIcon } from './field-icon.tsx'
import './filter-menu.css'

interface FieldListProps {
  readonly fields: readonly SheetField[]
  readonly onChoose: (field: SheetField) => void
}

/** A list of fields that can be searched by title or name. */
export function FieldList({ fields, onChoose }: FieldListProps) {
  return (
    <Command className="filter-menu" label="Field">
      <Command.Input placeholder="Filter by…" autoFocus />
      <Command.List>
        <Command.Empty>No matching field</Command.Empty>
        {fields.map((field) => (
          <Command.Item
            key={field.name}
            value={field.name}
            keywords={[field.title]}
            onSelect={() => onChoose(field)}
          >
            <FieldIcon field={field} />
            <span className="filter-menu-text">{field.title}</span>
            {field.title !== field.name && field.name !== ANY_COLUMN && (
              <code className="filter-menu-note">{field.name}</code>
            )}
          </Command.Item>
        ))}
      </Command.List>
    </Command>
  )
}
