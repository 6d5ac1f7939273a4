/** Runs the derivations of the sheet whose directory, or URL of its store, is the argument, for tests of several processes. */
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'

const sheet = await openSheet(process.argv.at(-1) ?? '')
await materialize(sheet, { targets: null, recordIds: null, force: false, actor: 'agent:other' })
await sheet.close()
