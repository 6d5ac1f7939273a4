import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

/** The allowed imports between modules: `yes`, `types` (with `import type`), or none. Every pair is tested. */
const TABLE: Record<string, Record<string, 'yes' | 'types'>> = {
  proof: {},
  errors: {},
  contract: { errors: 'yes' },
  provenance: { proof: 'yes', contract: 'yes', errors: 'yes' },
  events: { contract: 'yes', errors: 'yes' },
  store: { proof: 'yes', contract: 'yes', errors: 'yes', provenance: 'yes' },
  files: { contract: 'yes', errors: 'yes' },
  derivation: { contract: 'yes', errors: 'yes', store: 'types' },
  sheet: {
    proof: 'yes',
    contract: 'yes',
    errors: 'yes',
    provenance: 'yes',
    events: 'yes',
    store: 'yes',
    files: 'yes',
    derivation: 'yes',
  },
  wire: {
    proof: 'types',
    contract: 'types',
    errors: 'types',
    provenance: 'types',
    events: 'types',
    store: 'types',
    files: 'types',
    derivation: 'types',
    sheet: 'types',
    http: 'types',
    mcp: 'types',
    cli: 'types',
    client: 'types',
  },
  client: { wire: 'types' },
  http: { sheet: 'yes', wire: 'yes', errors: 'yes', events: 'types' },
  mcp: { sheet: 'yes', wire: 'yes', errors: 'yes', events: 'types' },
  cli: { sheet: 'yes', wire: 'yes', errors: 'yes', events: 'types', http: 'yes', mcp: 'yes' },
}

let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'colophon-boundaries-'))
  await cp(join(ROOT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
})

after(() => rm(folder, { recursive: true }))

test('the linter refuses exactly the imports that the architecture forbids', async () => {
  const forbidden: string[] = []
  for (const [from, allowed] of Object.entries(TABLE)) {
    for (const to of Object.keys(TABLE)) {
      if (from === to) continue
      const value = `src/${from}/value-of-${to}.ts`
      const type = `src/${from}/deep/type-of-${to}.ts`
      await put(value, `export { some } from '../${to}/some.ts'\n`)
      await put(type, `import type { Some } from '../../${to}/some.ts'\n\nexport type Mine = Some\n`)
      if (allowed[to] !== 'yes') forbidden.push(value)
      if (allowed[to] === undefined) forbidden.push(type)
    }
  }
  assert.deepEqual(await refused('no-restricted-imports'), forbidden.toSorted())
})

test('only open-sheet.ts, store-thread.ts, formula-dialect.ts and other-store.ts name a concrete store, the page imports only wire and the editing of YAML, and neither it nor wire needs Node', async () => {
  await put('src/sheet/list.ts', `export { store } from '../store/sqlite/sqlite-store.ts'\n`)
  await put(
    'src/sheet/open-sheet.ts',
    `export { store } from '../store/sqlite/sqlite-store.ts'\nexport { other } from '../store/postgres/postgres-store.ts'\n`,
  )
  await put(
    'src/sheet/definition/formula-dialect.ts',
    `export { read } from '../../store/sqlite/sql/formula-table.ts'\n`,
  )
  await put('src/sheet/definition/other-store.ts', `export { other } from '../../store/sqlite/other.ts'\n`)
  await put('src/sheet/store-thread.ts', `export { thread } from '../store/sqlite/writer-client.ts'\n`)
  await put(
    'src/derivation/run.ts',
    `import type { S } from '../store/sqlite/store.ts'\n\nexport type T = S\n`,
  )
  await put('src/sheet/pull.ts', `export { store } from '../store/postgres/postgres-store.ts'\n`)
  await put(
    'src/derivation/plan.ts',
    `import type { S } from '../store/postgres/postgres-store.ts'\n\nexport type T = S\n`,
  )
  await put('src/wire/file.ts', `export { join } from 'node:path'\n`)
  await put(
    'web/grid.ts',
    `export { open } from '../src/sheet/open.ts'\nexport { page } from '../src/wire/page.ts'\n`,
  )
  await put('web/forms.ts', `export { editYaml } from '../src/contract/yaml/edit/edit-yaml.ts'\n`)
  await put('web/odcs.ts', `export { parseYamlFile } from '../src/contract/yaml/yaml-file.ts'\n`)
  await put('web/file.ts', `export { join } from 'node:path'\n`)
  await put('src/http/app.test.ts', `export { open } from '../store/sqlite/store.ts'\n`)
  assert.deepEqual(await refused('no-restricted-imports'), [
    'src/derivation/plan.ts',
    'src/derivation/run.ts',
    'src/sheet/list.ts',
    'src/sheet/pull.ts',
    'src/wire/file.ts',
    'web/file.ts',
    'web/grid.ts',
    'web/odcs.ts',
  ])
})

test('the linter refuses cycles, also of types', async () => {
  await put('src/sheet/chicken.ts', `import type { Egg } from './egg.ts'\n\nexport type Chicken = Egg\n`)
  await put('src/sheet/egg.ts', `import type { Chicken } from './chicken.ts'\n\nexport type Egg = Chicken\n`)
  await put('src/sheet/cook.ts', `import type { Egg } from './egg.ts'\n\nexport type Cook = Egg\n`)
  assert.deepEqual(await refused('no-cycle'), ['src/sheet/chicken.ts', 'src/sheet/egg.ts'])
})

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

/** Lints what was put, takes it away, and says in which files the rule was broken. */
async function refused(rule: string): Promise<string[]> {
  const oxlint = join(ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint')
  const output = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [oxlint, '--format', 'json'],
      { cwd: folder, maxBuffer: 64e6 },
      (_error, stdout) => resolve(stdout),
    )
  })
  const report = JSON.parse(output) as { diagnostics: { code: string; filename: string }[] }
  await Promise.all(['src', 'web'].map((name) => rm(join(folder, name), { recursive: true, force: true })))
  const files = report.diagnostics.filter(({ code }) => code.includes(rule)).map(({ filename }) => filename)
  return [...new Set(files)].toSorted()
}
