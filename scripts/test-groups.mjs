/*
 * Groups of test files that share a process. A process starts Node once, loads each module once, and has one browser and one
 * PostgreSQL for all its files, which run one after the other.
 */
import { existsSync, readdirSync } from 'fs'
import { join } from 'path'

/** Folders that contain tests. */
export const TEST_FOLDERS = ['src', 'web/src', 'test', 'scripts', 'examples', 'campaign']

/** The files of a folder with more than this many are divided, so that the processors have equal work. A process takes a second to begin. */
const MOST_FILES = 24
/** The same for files that each take as long as several others. */
const MOST_LONG_FILES = 12

/** Folders of such files. */
const LONG = ['test/web']

/** Folders whose files each have a process, since each imports many tests. */
const ALONE = ['test/on-postgres']

/** The longest groups, which start first so that none of them is left for the end. */
const FIRST = [
  'test/on-postgres/runs',
  'test/web',
  'test/security',
  'test/on-postgres',
  'src/store',
  'test/mcp',
  'test/cli',
  'test/sheet',
  'test/http',
  'test/docs',
  'test/kill',
  'test/cluster',
  'test/package',
  'test/fuzz',
  'test/hosts',
  'test/init',
  'test/files',
  'scripts',
]

/**
 * Files that run one after the other in one process.
 *
 * @typedef {object} TestGroup
 * @property {string} name
 * @property {readonly string[]} files
 * @property {readonly (readonly string[])[]} [only] paths of the tests to run, see `EndedTest`; all when absent
 */

/**
 * Divides all test files below a directory into groups, in the order to start them.
 *
 * @param {string} root
 * @returns {readonly TestGroup[]}
 */
export function testGroups(root) {
  /** @type {Map<string, string[]>} */
  const folders = new Map()
  for (const file of TEST_FOLDERS.flatMap((folder) => testFilesIn(root, folder))) {
    const folder = file.split('/').slice(0, -1).slice(0, 2).join('/')
    const name = ALONE.includes(folder) ? file : folder
    folders.set(name, [...(folders.get(name) || []), file])
  }
  return [...folders]
    .flatMap(([name, files]) => divide(name, files))
    .toSorted((one, other) => rank(one) - rank(other))
}

/** @param {TestGroup} group */
function rank({ name }) {
  const index = FIRST.findIndex((folder) => name.startsWith(folder))
  return index === -1 ? FIRST.length : index
}

/**
 * @param {string} folder
 * @param {readonly string[]} files
 * @returns {readonly TestGroup[]}
 */
function divide(folder, files) {
  const parts = Math.ceil(files.length / (LONG.includes(folder) ? MOST_LONG_FILES : MOST_FILES))
  return Array.from({ length: parts }, (_, part) => ({
    name: parts === 1 ? folder : `${folder} (${part + 1} of ${parts})`,
    files: files.filter((_file, index) => index % parts === part),
  }))
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {readonly string[]} in the order of their names
 */
function testFilesIn(root, folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.test\.(ts|mjs)$/.test(path))
    .map((path) => `${folder}/${path}`)
    .toSorted()
}
