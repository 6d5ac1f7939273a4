import { changeDefinition, type FileEdit } from '../../src/sheet/definition/change/change-definition.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'

// Changes definition files of the sheet in a directory: the second argument is JSON of their new texts by path, null to remove one.
const [directory = '', texts = '{}'] = process.argv.slice(2)
const files = Object.entries(JSON.parse(texts) as Record<string, string | null>).map(
  ([path, text]): FileEdit => ({ path, bytes: text === null ? null : Buffer.from(text), ifMatch: null }),
)
const sheet = await openSheet(directory)
await changeDefinition(sheet, { files, actor: 'human:ann' })
await sheet.close()
