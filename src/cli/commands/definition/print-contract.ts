import { readContract } from '../../../sheet/schema/read-contract.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { tableOf, type Column } from '../../terminal/table.ts'

/** A line of the table: a field. */
interface Line {
  readonly name: string
  readonly type: string
  readonly rules: string
  readonly derivation: string | null
  readonly editableBy: string | null
  readonly description: string | null
}

/**
 * Prints the contract: its fields as a table, else the document as `GET /api/contract` returns it. Throws as {@link
 * readContract} does.
 */
export async function printContract({ sheet, out }: CommandContext): Promise<void> {
  const document = await readContract(sheet)
  const { contract, derivations } = await sheet.deriving()
  await out.print(document, (screen) => {
    const descriptions = descriptionsOf(document as unknown as DescribedContract)
    const lines = contract.fields.map(({ name, type, required, unique, primaryKey, editableBy }): Line => {
      const rules = [
        primaryKey && 'key',
        required && !primaryKey && 'required',
        unique && !primaryKey && 'unique',
      ]
      return {
        name,
        type,
        rules: rules.filter((rule) => rule !== false).join(', '),
        derivation: derivations.byTarget.get(name)?.file ?? null,
        editableBy: editableBy?.join(', ') ?? null,
        description: descriptions.get(name) ?? null,
      }
    })
    return tableOf(
      COLUMNS.filter((column) => lines.some((line) => (column.value(line) ?? '') !== '')),
      lines,
      screen,
    )
  })
}

const COLUMNS: readonly Column<Line>[] = [
  { header: 'field', value: ({ name }) => name, style: () => 'bold' },
  { header: 'type', value: ({ type }) => type },
  { header: 'rules', value: ({ rules }) => (rules === '' ? null : rules) },
  { header: 'derived by', value: ({ derivation }) => derivation },
  { header: 'editable by', value: ({ editableBy }) => editableBy },
  { header: 'description', value: ({ description }) => description, style: () => 'dim' },
]

/** The part of a validated contract that the table needs beside its fields. */
interface DescribedContract {
  readonly schema: readonly [{ readonly properties: readonly DescribedProperty[] }]
}

interface DescribedProperty {
  readonly name: string
  readonly description?: string
}

/** Returns the descriptions of fields by name. */
function descriptionsOf({
  schema: [{ properties }],
}: DescribedContract): ReadonlyMap<string, string | undefined> {
  return new Map(properties.map(({ name, description }) => [name, description]))
}
