import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { createClient } from '../../src/client/client.ts'
import { createApp } from '../../src/http/app.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { contractText } from '../support/contract-with.ts'
import { exampleSheet, type ExampleSheet } from '../support/example.ts'
import { listen } from '../support/http-fixture.ts'
import { codeBlocks, codes, readPage, section, tableOf } from '../support/markdown.ts'
import { onEnd } from '../support/on-end.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const page = readPage('docs/guides/programs.md')
const [client = '', engine = '', ownKind = ''] = codeBlocks(page).flatMap(({ lang, text }) =>
  lang === 'js' ? [text] : [],
)
const [derivation = ''] = codeBlocks(page).flatMap(({ lang, text }) => (lang === 'yaml' ? [text] : []))

const run = promisify(execFile)
/** A directory in which the package is installed, built as it is packed. */
let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'colophon-programs-'))
  const installed = join(folder, 'node_modules', 'colophon')
  await mkdir(installed, { recursive: true })
  await cp(join(ROOT, 'package.json'), join(installed, 'package.json'))
  await symlink(join(ROOT, 'node_modules'), join(installed, 'node_modules'))
  const dist = join(installed, 'dist')
  await run(process.execPath, [join(ROOT, 'scripts', 'bundle.mjs'), dist])
  await runTsc(['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', join(dist, 'types')])
})

after(() => rm(folder, { recursive: true, force: true }))

/** Runs the compiler in the folder; what it finds fails the test. */
async function runTsc(args: readonly string[]): Promise<void> {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  await run(process.execPath, [tsc, ...args], { cwd: folder }).catch((error: { stdout: string }) =>
    assert.fail(error.stdout),
  )
}

/** Runs a program of the guide where the package is installed. Answers with what it printed. */
async function runProgram(name: string, text: string): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, text)
  return (await run(process.execPath, [file], { cwd: folder })).stdout
}

test('the client in the guide reads, writes, and follows a run', async (t) => {
  const example: ExampleSheet = await exampleSheet()
  onEnd(t, () => example.cleanup())
  const sheet = await openSheet(example.path)
  onEnd(t, () => sheet.close())
  const app = createApp(sheet)
  onEnd(t, () => app.close())
  const port = await listen(app)
  assert.ok(client.includes('127.0.0.1:3000'))
  const printed = await runProgram('client.mjs', client.replace('127.0.0.1:3000', `127.0.0.1:${port}`))
  assert.deepEqual(printed.split('\n'), [
    'Australia, Papua New Guinea, New Zealand',
    '205 are not landlocked',
    '400 QueryError',
    '6 calls',
    'finished, 12 cells computed',
    '',
  ])
})

test('the engine in the guide opens a sheet and runs its derivations', async (t) => {
  const example = await exampleSheet()
  onEnd(t, () => example.cleanup())
  const printed = await runProgram('engine.mjs', engine.replace('examples/countries', example.path))
  assert.match(printed, /^\[\n {2}\{ id: 'AD', name: 'Andorra' \},\n {2}\{ id: 'AE', name: '.+' \}\n\]\n/)
  assert.match(printed, /\n24 cells computed, 0 failed\n/)
  assert.match(printed, /\n {2}'name_de',\n/)
})

test('the kind in the guide computes the fields of the file beside it', async () => {
  const sheet = join(folder, 'greetings')
  await mkdir(join(sheet, 'derivations'), { recursive: true })
  await writeFile(
    join(sheet, 'contract.yaml'),
    contractText(['{name: text, logicalType: string}', '{name: loud, logicalType: string}']),
  )
  const records = [
    { id: 'a', text: 'hello' },
    { id: 'b', text: null },
    { id: 'c', text: '' },
  ]
  await writeFile(join(sheet, 'records.jsonl'), records.map((record) => JSON.stringify(record)).join('\n'))
  await writeFile(join(sheet, 'derivations', 'loud.yaml'), derivation)
  const program = ownKind.replace(
    'await sheet.close()',
    `const { getRecord, readProvenance } = await import('colophon')
     console.log(String((await getRecord(sheet, 'a', null)).json))
     console.log((await readProvenance(sheet, { recordId: 'a', field: 'loud' })).source)
     await sheet.close()`,
  )
  const printed = await runProgram('own-kind.mjs', program)
  assert.match(printed, /materialized: 1,\s+skipped: 1,/)
  assert.match(printed, /error: 'shout {2}-> nothing to shout'/)
  assert.match(printed, /\{"id":"a","text":"hello","loud":"HELLO!"\}\nshout\n$/)
})

test('a kind that has the name of another is refused', async () => {
  const text = ownKind
    .replace("name: 'shout'", "name: 'http'")
    .replace("openSheet('greetings'", "openSheet('.'")
  await writeFile(join(folder, 'contract.yaml'), contractText(['{name: text, logicalType: string}']))
  await assert.rejects(runProgram('twice.mjs', text), /two kinds of derivations have the same name/)
})

test('the types of the package check a program in TypeScript', async () => {
  const text = [
    "import { createClient, type RunEvent } from 'colophon/client'",
    "import { openSheet, type DerivationKind, type Sheet } from 'colophon'",
    'interface Country { readonly area: number }',
    "const client = createClient<Country>({ baseUrl: 'http://127.0.0.1:3000' })",
    "export const area: Promise<number> = client.records.get('NZ').then((country) => country.area)",
    '// @ts-expect-error: of another type',
    "export const wrong: Promise<string> = client.records.get('NZ').then((country) => country.area)",
    'export const kinds: readonly DerivationKind[] = []',
    "export const sheet: Promise<Sheet> = openSheet('.', { kinds })",
    "export const last = (event: RunEvent): boolean => event.kind === 'run.end'",
    '',
  ].join('\n')
  await writeFile(join(folder, 'program.mts'), text)
  const strict = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'false',
    '--module',
    'nodenext',
    '--target',
    'es2024',
  ]
  const types = ['--typeRoots', join(ROOT, 'node_modules', '@types'), '--types', 'node']
  await runTsc([...strict, ...types, 'program.mts'])
})

test('the table of the guide lists exactly the members of a client', () => {
  const made = createClient({ baseUrl: 'http://127.0.0.1:3000' })
  const own = (part: object): string[] =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(part)).filter((name) => name !== 'constructor')
  const groups = {
    records: own(made.records),
    cells: own(made.cells),
    runs: own(made.runs),
    proposals: own(made.proposals),
    definition: own(made.definition),
    views: own(made.views),
    charts: own(made.charts),
    log: own(made.log),
  }
  const groupCount = Object.keys(groups).length
  const documented = tableOf(section(page, 'The client'), 'Methods').rows.map(([names = '']) => names)
  const grouped = documented.slice(0, groupCount).map((names) => {
    const [group = '', ...members] = codes(names)
    return [group, members]
  })
  assert.deepEqual(Object.fromEntries(grouped), groups)
  assert.deepEqual(
    [
      ...documented.slice(0, groupCount).flatMap((names) => codes(names).slice(0, 1)),
      ...documented.slice(groupCount).flatMap(codes),
    ].toSorted(),
    Object.keys(made).toSorted(),
  )
})
