import { changeDefinition, type FileEdit } from '../../src/sheet/definition/change/change-definition.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'

/** A change of definition files. */
export interface ChangeOrder {
  /** The sheet: its directory or the URL of its store. */
  readonly directory: string
  /** The new texts by path; null removes a file. */
  readonly texts: Readonly<Record<string, string | null>>
  /** New names of fields by the names before. */
  readonly renamed: readonly (readonly [string, string])[]
  /** The numbers of values that may be lost, by the names of removed fields. */
  readonly removed: readonly (readonly [string, number])[]
}

// Changes definition files of a sheet: the argument is JSON of a ChangeOrder. During the change IS_CHANGING is set.
const order = JSON.parse(process.argv[2] ?? '') as ChangeOrder
const files = Object.entries(order.texts).map(([path, text]): FileEdit => ({
  path,
  bytes: text === null ? null : Buffer.from(text),
  ifMatch: null,
}))
const sheet = await openSheet(order.directory)
const changes = { renamed: new Map(order.renamed), removed: new Map(order.removed), converted: new Map() }
process.env['IS_CHANGING'] = '1'
await changeDefinition(sheet, { files, actor: 'human:ann', changes })
delete process.env['IS_CHANGING']
await sheet.close()
