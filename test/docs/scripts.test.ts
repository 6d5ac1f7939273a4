import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseYamlFile } from '../../src/contract/yaml/yaml-file.ts'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { SCRIPT_ENDINGS } from '../../src/derivation/definition/source-path.ts'
import { createKinds } from '../../src/derivation/kinds.ts'
import { parseDerivation } from '../../src/derivation/parse-derivation.ts'
import { noCalls } from '../../src/sheet/calls/no-calls.ts'
import { isInstalled, SYSTEM_PATH } from '../../src/sheet/scripts/interpreters.ts'
import { NO_SCRIPTS } from '../../src/sheet/scripts/script-processes.ts'
import { contractErrorOf } from '../support/contract-error.ts'
import { contractWith } from '../support/contract-with.ts'
import { code, codeBlocks, readPage, section, tableOf } from '../support/markdown.ts'
import { unconfinable } from '../support/script-hosts.ts'
import { followGuide } from '../support/terminal-guide.ts'
import { noTerminal } from '../support/terminal.ts'

const guide = codeBlocks(readPage('docs/guides/scripts.md'))
const page = readPage('docs/reference/scripts.md')

const contract = contractWith(
  '{name: country, logicalType: string}',
  '{name: code, logicalType: string}',
  '{name: name, logicalType: string}',
)

function parse(file: JsonObject): unknown {
  const kinds = createKinds({ transport: noCalls(), scripts: NO_SCRIPTS })
  return parseDerivation({ file: 'x.yaml', bytes: Buffer.from(JSON.stringify(file)) }, contract, kinds)
}

function errorOf(file: JsonObject): string {
  return contractErrorOf(() => parse(file))
}

const [example] = codeBlocks(page)
const FILE = parseYamlFile(example?.text ?? '', 'x').value as JsonObject

test('the keys and files of a script are those of the reference', () => {
  parse(FILE)
  parse({ ...FILE, kind: 'python' })
  const known = /a script has ([a-z_, ]+)/.exec(errorOf({ ...FILE, no_such_key: 1 }))?.[1]?.split(', ')
  assert.deepEqual(
    tableOf(section(page, 'Keys'), 'Key').rows.map(([key]) => code(key)),
    known,
  )
  const files = tableOf(section(page, 'The file'), 'File').rows.map(([file]) => code(file))
  assert.deepEqual(
    files,
    SCRIPT_ENDINGS.map((ending) => `scripts/NAME${ending}`),
  )
})

test('errors of a script’s derivation name the file, the line and what to do', () => {
  for (const [change, message] of [
    [{ script: null }, /script is missing; write the name of a file in scripts\//],
    [
      { script: '../code' },
      /script is "\.\.\/code"; write the name of a file in scripts\/ without its ending/,
    ],
    [{ script: 'code.py' }, /without its ending/],
    [{ output: 'xml' }, /output is "xml"; write text or json/],
    [{ targets: ['code', 'name'] }, /several targets needs output: json/],
    [{ output_schema: { name: 'string' } }, /the keys of output_schema are the targets: code/],
    [{ timeout: 0 }, /timeout is 0; write seconds from 0\.1 to 3600/],
    [{ env: 'KEY' }, /env is not a list/],
    [{ env: ['A-B'] }, /env names "A-B"; write the name of an environment variable/],
    [{ env: ['LD_PRELOAD'] }, /env names LD_PRELOAD, which scripts do not receive/],
    [{ batch: 'yes' }, /batch is "yes"; write true or false/],
    [{ scripts: 'x' }, /unknown key "scripts"; .*did you mean "script"\?/],
  ] as const) {
    assert.match(errorOf({ ...FILE, ...change }), message)
    assert.match(errorOf({ ...FILE, ...change }), /^derivations\/x\.yaml:1: /)
  }
})

const skip = noTerminal || (isInstalled('python3', SYSTEM_PATH) ? false : 'python3 is not installed')

test('the guide to scripts has the output of its commands, step by step', { skip }, async (t) => {
  // As the guide says for machines that cannot confine.
  const allow = unconfinable === false ? '--allow-scripts' : '--allow-scripts=unconfined'
  const count = await followGuide(t, guide, (commands) => commands.replace('--allow-scripts', allow))
  assert.equal(count, 6)
})
