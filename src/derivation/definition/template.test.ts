import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractError } from '../../errors/service-error.ts'
import {
  fieldsOf,
  inputValue,
  parseHeaderTemplate,
  parseTemplate,
  percentEncode,
  plainText,
} from './template.ts'
import { testContract } from '../testing/test-contract.ts'

const scope = {
  contract: testContract({ city: 'string', country: 'string', env: 'string' }),
  fail(message: string): never {
    throw new ContractError(message)
  },
}

test('D21: a template splits into literal text and placeholders, spaces inside the braces being optional', () => {
  assert.deepEqual(parseTemplate('a{{city}}b{{  country }}{{ env }}', scope), [
    'a',
    { field: 'city' },
    'b',
    { field: 'country' },
    { field: 'env' },
  ])
  assert.deepEqual(parseTemplate('', scope), [])
  assert.deepEqual(parseTemplate('no } placeholder }} here {', scope), ['no } placeholder }} here {'])
})

for (const [template, message] of [
  ['{{ }}', /placeholder is empty/],
  ['x {{ city', /not closed: "\{\{ city"/],
  ['x {{ city }', /not closed/],
  ['{{ city {{ country }}', /"\{\{ city \{\{ country \}\}" is malformed/],
  ['{{{ city }}}', /malformed/],
  ['{{ city.name }}', /"\{\{ city\.name \}\}" is malformed/],
  ['{{ city | upper }}', /malformed/],
  ['{{ town }}', /\{\{ town \}\} is no field of the contract$/],
  ['{{ citty }}', /\{\{ citty \}\} is no field of the contract; did you mean "city"\?/],
  ['{{ constructor }}', /is no field of the contract/],
  ['{{ env.KEY }}', /allowed in header values only/],
] as const) {
  test(`D20: the template ${template} is a ContractError`, () => {
    assert.throws(() => parseTemplate(template, scope), { name: 'Error', message })
    assert.throws(() => parseTemplate(template, scope), ContractError)
  })
}

test('D23: a header template accepts {{ env.NAME }}, and a field called env is still a field', () => {
  assert.deepEqual(parseHeaderTemplate('Bearer {{env.API_KEY}} {{ env }}', scope), [
    'Bearer ',
    { env: 'API_KEY' },
    ' ',
    { field: 'env' },
  ])
  assert.throws(() => parseHeaderTemplate('{{ env.2X }}', scope), /malformed/)
})

test('the fields of a template are listed once each, in order', () => {
  assert.deepEqual(fieldsOf(parseTemplate('{{ env }}{{ city }}{{ env }}', scope)), ['env', 'city'])
})

test('D21: a value is percent-encoded byte by byte outside A-Za-z0-9-._~', () => {
  assert.equal(percentEncode('AZaz09-._~'), 'AZaz09-._~')
  assert.equal(percentEncode(" !'()*/?#%&+"), '%20%21%27%28%29%2A%2F%3F%23%25%26%2B')
  assert.equal(percentEncode('ü€😀\n'), '%C3%BC%E2%82%AC%F0%9F%98%80%0A')
})

test('D21: the text of a string value is the string, that of any other value is its JSON', () => {
  assert.equal(plainText('a "b"'), 'a "b"')
  assert.equal(plainText(1.5), '1.5')
  assert.equal(plainText(false), 'false')
  assert.equal(plainText(['a', 1]), '["a",1]')
  assert.equal(plainText({ a: null }), '{"a":null}')
})

test('a field without a value in the record is null, also if its name is an inherited member of objects', () => {
  assert.equal(inputValue({}, 'constructor'), null)
  assert.equal(inputValue({ city: 0 }, 'city'), 0)
})
