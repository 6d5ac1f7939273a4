/*
 * Runs tests with far more cases than `npm test` does, one group after the other.
 *
 *   npm run test:long                       all of them: some hours
 *   npm run test:long -- fuzz kill          these two
 *   COLOPHON_FUZZ_COUNT=5000 COLOPHON_FUZZ_SEED=7 npm run test:long -- fuzz
 *
 * A variable that is set already keeps its value.
 */
import { spawn } from 'child_process'
import { once } from 'events'
import { join } from 'path'
import { endAs, forwardSignalsTo } from '../bin/launcher.js'
import { findNode, missingNode, ROOT } from './node24.mjs'

/** @type {Readonly<Record<string, { files: string, settings: Readonly<Record<string, string>> }>>} */
const GROUPS = {
  fuzz: {
    files: '{test/fuzz/*,src/store/postgres/sql/sql-guard}.test.ts',
    settings: { COLOPHON_FUZZ: '1' },
  },
  kill: { files: 'test/kill/*.test.ts', settings: { COLOPHON_KILLS: '200' } },
  random: {
    files: '{src/store/{sqlite/sqlite-store,postgres/postgres-store},test/sheet/kinds-random}.test.ts',
    settings: { COLOPHON_RANDOM_TIMES: '20' },
  },
  sequences: {
    files: 'test/{sheet/changes-back-and-forth,on-postgres/sequences}.test.ts',
    settings: { COLOPHON_SEQUENCES: '300' },
  },
  stale: {
    files: 'test/{sheet/kinds-random,on-postgres/stale}.test.ts',
    settings: { COLOPHON_RANDOM_RECORDS: '100000', COLOPHON_RANDOM_EDITS: '500' },
  },
  cluster: { files: 'test/cluster/*.test.ts', settings: { COLOPHON_CLUSTER_CELLS: '20000' } },
  bench: { files: 'test/bench/*.test.ts', settings: { COLOPHON_BENCH: '1' } },
  'large-sheet': {
    files: 'test/web/large-sheet.test.ts',
    settings: { COLOPHON_LARGE_RECORDS: '1000000' },
  },
}

const named = process.argv.slice(2)
const unknown = named.find((name) => !Object.keys(GROUPS).includes(name))
const node = findNode()
if (node === null || unknown !== undefined) {
  const problem = node === null ? missingNode() : `unknown group "${unknown}"`
  console.error(node === null ? problem : `${problem}; there are ${Object.keys(GROUPS).join(', ')}`)
  process.exit(1)
}

process.chdir(ROOT)
let failed = false
for (const [name, { files, settings }] of Object.entries(GROUPS)) {
  if (named.length > 0 && !named.includes(name)) continue
  console.log(`\nGroup ${name}\n`)
  // One file after the other: fuzzers measure the memory of the process.
  const child = spawn(node, ['--test', '--test-reporter=spec', '--test-concurrency=1', files], {
    stdio: 'inherit',
    env: {
      NODE_COMPILE_CACHE: join(ROOT, '.cache', 'compile'),
      ...settings,
      ...process.env,
    },
  })
  forwardSignalsTo(child)
  const [code, signal] = /** @type {[number | null, NodeJS.Signals | null]} */ (await once(child, 'exit'))
  if (signal !== null) endAs(code, signal)
  failed ||= code !== 0
}
if (failed) process.exitCode = 1
