import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertQuick } from '../../../../test/support/thread-time.ts'
import { ContractError } from '../../../errors/service-error.ts'
import { whyNotStarted } from './start-error.ts'

const WHERE = { host: 'localhost', port: 3000 }

function told(message: string): string | undefined {
  return whyNotStarted(new ContractError(message), WHERE)
}

test('the errors of a start are one line, however many there are', () => {
  assert.equal(told('a  b'), 'a  b')
  assert.equal(told(' a \n\t b\r\n\n  c \n'), ' a; b; c; ')
  assert.equal(told('\n'), '; ')
})

test('a message with many spaces is handled in linear time', () => {
  const spaces = ' '.repeat(1_000_000)
  assertQuick(() => void told(`a${spaces}b`), 'a million spaces')
})
