import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createProgram } from '../../src/cli/program.ts'
import { findShell } from '../support/find-program.ts'
import { onEnd } from '../support/on-end.ts'
import { runCommand } from '../support/run-command.ts'

const COMMANDS = createProgram().commands.map((command) => command.name())

/** A directory with a sheet and a file, and the script for a shell. */
async function prepare(t: TestContext, shell: string): Promise<{ directory: string; script: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-completion-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  await mkdir(join(directory, 'my sheet'))
  await writeFile(join(directory, 'my stub.json'), '{}')
  const { code, stdout, stderr } = await runCommand(['completion', shell])
  assert.deepEqual([code, stderr], [0, ''])
  const script = join(directory, '.completion')
  await writeFile(script, stdout)
  return { directory, script }
}

/** Returns the sorted completions of a command line up to the cursor. */
type Completer = (line: string) => Promise<string[]>

/** The completions that every shell must offer. */
async function check(complete: Completer): Promise<void> {
  assert.deepEqual(await complete('colophon '), COMMANDS.toSorted())
  assert.deepEqual(await complete('colophon mat'), ['materialize'])
  assert.deepEqual(await complete('colophon list x --format '), ['json', 'ndjson', 'table'])
  assert.deepEqual(await complete('colophon materialize x --only f'), ['failed'])
  assert.deepEqual(await complete('colophon materialize x --max-c'), ['--max-calls', '--max-cost'])
  assert.deepEqual(await complete('colophon list my'), ['my sheet'])
  assert.deepEqual(await complete('colophon runs p'), ['prune'])
  assert.deepEqual(await complete('colophon runs prune my'), ['my sheet'])
  assert.deepEqual(await complete('colophon runs prune --old'), ['--older-than'])
  assert.deepEqual(await complete('colophon materialize x --stub my'), ['my sheet', 'my stub.json'])
  assert.deepEqual(await complete('colophon completion '), ['bash', 'fish', 'zsh'])
}

async function run(program: string, args: readonly string[], cwd: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(program, args, { cwd, timeout: 30_000 })
  const lines = stdout.split(/\r?\n/).filter((line) => line !== '')
  return [...new Set(lines)].toSorted()
}

test('bash completes commands, options, their values, sheets and files', async (t) => {
  const { directory, script } = await prepare(t, 'bash')
  // As bash does it: words, the number of the one with the cursor, and an answer in COMPREPLY.
  const program = `
    source "$1"
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _colophon
    ((\${#COMPREPLY[@]} == 0)) || printf '%s\\n' "\${COMPREPLY[@]}"
  `
  const complete: Completer = async (line) => {
    const found = await run('bash', ['--norc', '-c', program, 'bash', script, ...line.split(' ')], directory)
    return found.filter((word) => line !== 'colophon ' || !word.startsWith('-'))
  }
  await check(complete)
  assert.deepEqual(
    await run(
      'bash',
      ['--norc', '-c', program, 'bash', script, 'colophon', 'list', '--format', '=', 'n'],
      directory,
    ),
    ['ndjson'],
  )
  assert.deepEqual(await complete('colophon list --limit 3 my'), ['my sheet'])
  assert.deepEqual(await complete('colophon upsert x my'), ['my sheet', 'my stub.json'])
  assert.deepEqual(await complete('colophon get x my'), [])
})

const fish = findShell('fish')

test('fish completes commands, options, their values, sheets and files', { skip: fish.skip }, async (t) => {
  const { directory, script } = await prepare(t, 'fish')
  await check(async (line) => {
    const found = await run(
      fish.path,
      ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line],
      directory,
    )
    return found
      .map((text) => (text.split('\t')[0] ?? '').replace(/\/$/, '').replaceAll('\\ ', ' '))
      .toSorted()
  })
})

const zsh = findShell('zsh')

test('zsh completes commands, options, their values, sheets and files', { skip: zsh.skip }, async (t) => {
  const { directory, script } = await prepare(t, 'zsh')
  const driver = join(import.meta.dirname, '..', 'support', 'capture-completion.zsh')
  await check(async (line) => {
    const found = await run(zsh.path, ['-f', driver, script, join(directory, '.found'), line], directory)
    const words = found.map((word) => word.replaceAll('\\ ', ' '))
    return words.filter((word) => line !== 'colophon ' || !word.startsWith('-'))
  })
})
