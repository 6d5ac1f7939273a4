import { useQuery } from '@tanstack/react-query'
import { Command } from 'cmdk'
import type { SheetContract } from '../api/contract.ts'
import { foundRecordsQuery } from './match-queries.ts'
import { nameField } from '../values/name-field.ts'
import type { CellRef } from '../state/view-state.ts'
import { useSettled } from '../ui/use-settled.ts'
import { formatValue } from '../values/format-value.ts'
import { fieldsWith } from './find-text.ts'
import './found-records.css'

interface FoundRecordsProps {
  readonly contract: SheetContract
  readonly text: string
  readonly onChoose: (cell: CellRef) => void
}

/** The least characters for which records are searched. */
const MIN_LENGTH = 2
const TYPING_MS = 250

/** The records with a text, in the command menu. */
export function FoundRecords({ contract, text, onChoose }: FoundRecordsProps) {
  const settled = useSettled(text.trim(), TYPING_MS)
  const isSearched = settled.length >= MIN_LENGTH
  const { data: records } = useQuery({ ...foundRecordsQuery(settled), enabled: isSearched })
  const naming = nameField(contract.fields)
  if (!isSearched || records === undefined || records.length === 0) return null
  return (
    <Command.Group heading="Records">
      {records.map((record) => {
        const id = String(record['id'])
        const [field = contract.fields[0]] = fieldsWith(contract.fields, record, settled)
        if (field === undefined) return null
        const name = naming === null ? null : record[naming.name]
        const isNamed = field === naming || field.primaryKey
        return (
          <Command.Item
            key={id}
            // It has the text, so that the menu does not filter it.
            value={`record ${id} ${settled}`}
            onSelect={() => onChoose({ recordId: id, field: field.name })}
          >
            <span className="found-record">
              <code>{id}</code>
              {typeof name === 'string' && <span>{name}</span>}
              {!isNamed && (
                <span className="found-value">
                  {field.title}: {formatValue(field.type, record[field.name])}
                </span>
              )}
            </span>
          </Command.Item>
        )
      })}
    </Command.Group>
  )
}
