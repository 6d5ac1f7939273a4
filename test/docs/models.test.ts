import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { parseYamlFile } from '../../src/contract/yaml/yaml-file.ts'
import { createKinds } from '../../src/derivation/kinds.ts'
import { parseDerivation } from '../../src/derivation/parse-derivation.ts'
import { sourceOf } from '../../src/derivation/read-sources.ts'
import { ContractError } from '../../src/errors/service-error.ts'
import { noCalls } from '../../src/sheet/calls/no-calls.ts'
import { contractErrorOf } from '../support/contract-error.ts'
import { contractWith } from '../support/contract-with.ts'
import { code, codeBlocks, readPage, section, tableOf } from '../support/markdown.ts'
import { followGuide } from '../support/terminal-guide.ts'
import { noTerminal } from '../support/terminal.ts'

const guide = codeBlocks(readPage('docs/guides/models.md'))
const page = readPage('docs/reference/models.md')

const contract = contractWith(
  '{name: company, logicalType: string}',
  '{name: website, logicalType: string}',
  '{name: industry, logicalType: string}',
  '{name: staff, logicalType: integer}',
)

const [derivationText = '', modelsText = ''] = codeBlocks(page).map(({ text }) => text)
const FILE = parseYamlFile(derivationText, 'x').value as JsonObject
const SMALL = ((parseYamlFile(modelsText, 'x').value as JsonObject)['models'] as JsonObject)[
  'small'
] as JsonObject

function parse(file: JsonObject, models: string | null = modelsText, prompt = 'About {{ company }}.'): void {
  parseDerivation(
    {
      file: 'x.yaml',
      bytes: Buffer.from(JSON.stringify(file)),
      read(path) {
        const text = path === 'models.yaml' ? models : path === 'prompts/a.md' ? prompt : null
        return sourceOf(path, text === null ? { problem: `${path} does not exist` } : Buffer.from(text))
      },
    },
    contract,
    createKinds({ transport: noCalls() }),
  )
}

const withModel = (change: JsonObject): string =>
  JSON.stringify({ models: { small: { ...SMALL, ...change } } })

test('the keys of kind ai and of models.yaml are those of the reference, required as it says', () => {
  parse(FILE)
  const keys = tableOf(section(page, 'Keys'), 'Key').rows
  const known = /kind ai has ([a-z_, ]+)/.exec(contractErrorOf(() => parse({ ...FILE, no_such_key: 1 })))?.[1]
  assert.deepEqual(keys.map(([key]) => code(key)).join(', '), known)
  for (const [key, required] of keys.map((row) => [code(row[0]), row[1]] as const)) {
    const without = (): void => parse({ ...FILE, [key]: null })
    if (required === 'yes' || key === 'prompt') assert.throws(without, ContractError, key)
    else without()
  }
  const members = tableOf(section(page, 'models.yaml'), 'Key').rows
  const knownMembers = /a model has ([a-z_, ]+)/.exec(
    contractErrorOf(() => parse(FILE, withModel({ x: 1 }))),
  )?.[1]
  assert.deepEqual(members.map(([key]) => code(key)).join(', '), knownMembers)
  for (const [key, required] of members.map((row) => [code(row[0]), row[1]] as const)) {
    const without = (): void => parse(FILE, withModel({ [key]: null }))
    if (required === 'yes') assert.throws(without, ContractError, key)
    else without()
  }
})

test('files of other programs are read unchanged: output and output_schema, a prompt in a file', () => {
  parse({ ...FILE, output: 'json', output_schema: { industry: 'string', staff: 'integer' } })
  parse({
    targets: ['industry'],
    inputs: ['company'],
    kind: 'ai',
    model: 'small',
    prompt: 'x',
    output: 'text',
  })
  parse({ ...FILE, prompt: null, prompt_ref: 'prompts/a.md' })
})

test('errors of kind ai name the file, the line and what to do', () => {
  for (const [change, message] of [
    [
      { model: 'large' },
      /model is "large", which models\.yaml does not have; it has small; add models: \{large: /,
    ],
    [
      { prompt: 'About {{ compny }}' },
      /the placeholder \{\{ compny \}\} is no field .*did you mean "company"\?/,
    ],
    [{ prompt: '{{ env.KEY }}' }, /allowed in header values only/],
    [{ prompt_ref: 'prompts/a.md' }, /give either prompt, a text, or prompt_ref/],
    [
      { prompt: null, prompt_ref: '../a.md' },
      /prompt_ref is "\.\.\/a\.md"; name a file inside the sheet that ends in \.md/,
    ],
    [{ prompt: null, prompt_ref: '/etc/passwd' }, /name a file inside the sheet/],
    [
      { prompt: null, prompt_ref: 'prompts/b.md' },
      /prompt_ref cannot be read: prompts\/b\.md does not exist/,
    ],
    [{ output: 'text' }, /output is text, which has one target/],
    [{ output_schema: { industry: 'string' } }, /the keys of output_schema are the targets: industry, staff/],
    [{ system: 'For {{ company }}' }, /system has a placeholder/],
    [{ max_output_tokens: 0 }, /max_output_tokens is 0; write a whole number/],
    [{ temperature: 3 }, /temperature is 3; write a number from 0 to 2/],
    [{ promt: 'x' }, /unknown key "promt"; .*did you mean "prompt"\?/],
  ] as const) {
    const error = contractErrorOf(() => parse({ ...FILE, ...change }))
    assert.match(error, message)
    assert.match(error, /^derivations\/x\.yaml:1: /)
  }
  const file = { ...FILE, prompt: null, prompt_ref: 'prompts/a.md' }
  const inPrompt = (text: string): string => contractErrorOf(() => parse(file, modelsText, text))
  assert.match(
    inPrompt('One\n{{ company }}\n{{ compny }}'),
    /^prompts\/a\.md:3: the placeholder \{\{ compny \}\}/,
  )
  assert.match(inPrompt('One\n\n{{ company'), /^prompts\/a\.md:3: a placeholder is not closed/)
  assert.match(inPrompt(' \n'), /^prompts\/a\.md:1: the file is empty/)
})

test('errors of models.yaml name the line and what to do', () => {
  assert.match(
    contractErrorOf(() => parse(FILE, null)),
    /^derivations\/x\.yaml:1: model is "small", and models\.yaml does not exist; add it with models: /,
  )
  for (const [change, message] of [
    [{ api: 'opnai' }, /api is "opnai"; write openai, anthropic/],
    [{ api: 'anthropic', structured_output: 'json_object' }, /the API anthropic does not have/],
    [{ url: 'api.example/v1' }, /url is "api\.example\/v1"; write a URL such as/],
    [{ url: 'file:///etc/passwd' }, /write a URL such as/],
    [{ url: 'https://user:key@api.example/v1' }, /send credentials in a header/],
    [{ url: 'https://api.example/v1?key=1' }, /query or a fragment/],
    [{ url: 'https://api.example/v1/chat/completions' }, /url ends in \/chat\/completions, which is added/],
    [{ url: 'https://{{ company }}/v1' }, /placeholder, which only headers can have/],
    [
      { headers: { 'x-company': '{{ company }}' } },
      /placeholder of a field; it can have \{\{ env\.NAME \}\}/,
    ],
    [{ headers: { host: 'x' } }, /is set by the service/],
    [{ price: 1 }, /price is 1; write dollars for a million tokens/],
    [{ price: { input: -1, output: 1 } }, /input is -1; write dollars/],
    [{ price: { input: 1 } }, /output is missing/],
    [{ price: { input: 1, output: 1, as_of: 'today' } }, /as_of is "today"; write the date/],
    [{ price: { input: 1, output: 1, outptu: 2 } }, /unknown key "outptu"; .*did you mean "output"\?/],
    [{ output_limit: 'max' }, /output_limit is "max"; write max_tokens, max_completion_tokens/],
  ] as const) {
    const error = contractErrorOf(() => parse(FILE, withModel(change)))
    assert.match(error, message)
    assert.match(error, /^models\.yaml:1: /)
  }
  assert.match(
    contractErrorOf(() => parse(FILE, 'models:\n  small:\n    api: openai\n    ulr: x\n')),
    /^models\.yaml:4: unknown key "ulr"; .*did you mean "url"\?/,
  )
  assert.match(
    contractErrorOf(() => parse(FILE, 'models: [small]')),
    /^models\.yaml:1: models is an array of 1 item; write a map/,
  )
})

test('every model of the guide is valid', () => {
  const models = guide.filter(({ lang, text }) => lang === 'yaml' && text.startsWith('models:'))
  assert.equal(models.length, 5)
  for (const { text } of models) parse(FILE, text)
})

test('the guide to models has the output of its commands', { skip: noTerminal }, async (t) => {
  assert.equal(await followGuide(t, guide), 4)
})
