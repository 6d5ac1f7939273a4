/** Runs the derivations of a sheet with the definition of a directory and the store at a URL: `<directory> <url>`. */
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { openShared } from './shared-sheet.ts'

const [directory = '', url = ''] = process.argv.slice(2)
const sheet = await openShared(directory, url)
await materialize(sheet, { targets: null, recordIds: null, force: false, actor: 'agent:other' })
await sheet.close()
