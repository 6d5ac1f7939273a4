/*
 * The programs that some tests drive, and their paths on this machine. Plain JavaScript for Node.js 14 and later: setup.mjs
 * installs missing ones, and the tests look for them with the same functions.
 */
import { accessSync, constants, statSync } from 'fs'
import { basename, delimiter, join } from 'path'

/**
 * @typedef {object} TestProgram
 * @property {string} name as people call it
 * @property {readonly string[]} commands what it may be called on the path, the first found is taken
 * @property {string} variable the environment variable that names it outright
 * @property {string} debianPackage what brings it on Debian and Ubuntu
 */

/** The build without a user interface comes first: the same pages take a tenth to a quarter less of the processor. @type {TestProgram} */
export const CHROMIUM = {
  name: 'Chromium',
  commands: [
    'chromium-headless-shell',
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
  ],
  variable: 'COLOPHON_CHROMIUM',
  debianPackage: 'chromium-headless-shell',
}

/** @type {TestProgram} */
export const NGINX = {
  name: 'nginx',
  commands: ['nginx'],
  variable: 'COLOPHON_NGINX',
  debianPackage: 'nginx-light',
}

/** @type {TestProgram} */
export const PGBOUNCER = {
  name: 'PgBouncer',
  commands: ['pgbouncer'],
  variable: 'COLOPHON_PGBOUNCER',
  debianPackage: 'pgbouncer',
}

/** A terminal to run a command in. @type {TestProgram} */
export const SCRIPT = {
  name: 'script',
  commands: ['script'],
  variable: 'COLOPHON_SCRIPT',
  debianPackage: 'bsdutils',
}

/** @type {TestProgram} */
export const ZSH = { name: 'zsh', commands: ['zsh'], variable: 'COLOPHON_ZSH', debianPackage: 'zsh' }

/** @type {TestProgram} */
export const FISH = { name: 'fish', commands: ['fish'], variable: 'COLOPHON_FISH', debianPackage: 'fish' }

/** @type {TestProgram} */
export const GIT = { name: 'git', commands: ['git'], variable: 'COLOPHON_GIT', debianPackage: 'git' }

/** All programs. */
export const TEST_PROGRAMS = [CHROMIUM, NGINX, PGBOUNCER, SCRIPT, ZSH, FISH, GIT]

/**
 * Returns the path of an installed program; null when there is none, or when its variable names a file that cannot be run.
 *
 * @param {Pick<TestProgram, 'commands' | 'variable'>} program
 */
export function findProgram({ commands, variable }) {
  const named = process.env[variable]
  if (named) return isExecutable(named) ? named : null
  for (const command of commands) {
    for (const directory of searchedDirectories()) {
      const path = join(directory, command)
      if (isExecutable(path)) return path
    }
  }
  return null
}

/** Returns the directories of PATH, and the `sbin` beside each `bin`, which has servers and is often not on PATH. */
function searchedDirectories() {
  const directories = (process.env.PATH || '').split(delimiter).filter((directory) => directory !== '')
  const beside = directories.filter((directory) => basename(directory) === 'bin')
  return [...directories, ...beside.map((directory) => join(directory, '..', 'sbin'))]
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
