/**
 * Counts the non-blank lines of product code: TypeScript of `src` and `web/src` without tests and conformance suites.
 * Usage: `node scripts/count-lines.mjs [commit]`; without a commit, the tracked files of the working tree.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const PRODUCT = /^(?:src|web\/src)\/.*\.tsx?$/
const EXCLUDED = /\.test\.tsx?$|\/suite\/|-suite\.tsx?$|\.d\.ts$/

/** Lines of commit 1cc5b39, against which the size of the code is compared. */
const BASELINE = 69_537

const commit = process.argv[2]
/** @param {string[]} args */
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 })

const listed = commit === undefined ? git('ls-files') : git('ls-tree', '-r', '--name-only', commit)
const files = listed.split('\n').filter((file) => PRODUCT.test(file) && !EXCLUDED.test(file))
/** @param {string} file */
const read = (file) => (commit === undefined ? readFileSync(file, 'utf8') : git('show', `${commit}:${file}`))
const lines = files.reduce(
  (sum, file) =>
    sum +
    read(file)
      .split('\n')
      .filter((line) => line.trim() !== '').length,
  0,
)

const percent = ((100 * lines) / BASELINE).toFixed(1)
console.log(`product code: ${lines} lines in ${files.length} files (${percent} % of commit 1cc5b39)`)
