/**
 * Counts the non-blank lines of product code: TypeScript of `src` and `web/src` without tests and conformance suites.
 * Usage: `node scripts/count-lines.mjs [commit]`; without a commit, the files of the working tree.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './node24.mjs'

const FOLDERS = ['src', 'web/src']
const EXCLUDED = /\.test\.tsx?$|\/suite\/|-suite\.tsx?$|\.d\.ts$/

/** Lines of commit 1cc5b39, against which the size of the code is compared. */
const BASELINE = 69_537

const commit = process.argv[2]
const texts = commit === undefined ? filesOfTree() : filesOfCommit(commit)
const lines = texts.join('\n').match(/^.*\S.*$/gm)?.length ?? 0
const percent = ((100 * lines) / BASELINE).toFixed(1)
console.log(`product code: ${lines} lines in ${texts.length} files (${percent} % of commit 1cc5b39)`)

/** Reads the working tree, which need not be a repository. */
function filesOfTree() {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => join(ROOT, folder, file))
      .filter(isProduct)
      .map((file) => readFileSync(file, 'utf8')),
  )
}

/** @param {string} name */
function filesOfCommit(name) {
  /** @param {string[]} args */
  const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28 })
  const files = git('ls-tree', '-r', '--name-only', name, ...FOLDERS)
    .split('\n')
    .filter(isProduct)
  return files.map((file) => git('show', `${name}:${file}`))
}

/** @param {string} file */
function isProduct(file) {
  return /\.tsx?$/.test(file) && !EXCLUDED.test(file)
}
