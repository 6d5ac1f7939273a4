/*
 * Runs the fuzzers of test/fuzz with more cases than `npm test` does, and with others each time.
 *
 *   npm run fuzz                        all of them
 *   npm run fuzz -- test/fuzz/sql-fuzz.test.ts
 *   COLOPHON_FUZZ_COUNT=5000 COLOPHON_FUZZ_SEED=7 npm run fuzz
 */
import { spawn } from 'child_process'
import { join } from 'path'
import { endAs, passSignalsTo } from '../bin/launcher.js'
import { findNode, missingNode, ROOT } from './node24.mjs'

const FUZZERS = 'test/fuzz/*.test.ts'

const args = process.argv.slice(2)
const node = findNode()
if (node === null) {
  console.error(missingNode())
  process.exit(1)
}

process.chdir(ROOT)
const child = spawn(
  node,
  // One after the other: each looks at the memory of what it feeds.
  ['--test', '--test-reporter=spec', '--test-concurrency=1', ...(args.length > 0 ? args : [FUZZERS])],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      COLOPHON_FUZZ: '1',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || join(ROOT, '.cache', 'compile'),
    },
  },
)
passSignalsTo(child)
child.on('exit', endAs)
