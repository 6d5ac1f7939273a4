import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERROR_CODES, type ErrorCode } from './codes.ts'
import {
  ConflictError,
  fromPlainError,
  PreconditionFailedError,
  QueryError,
  RunStoppedError,
  SheetError,
  StoppingError,
  StoreAwayError,
  toPlainError,
} from './service-error.ts'

const CODES = Object.entries(ERROR_CODES).filter(([code]) => code !== 'internal_error')

const NO_DETAILS = { violations: null, inFile: null }

test('an error is the same after it was sent to another thread', () => {
  for (const [code, { type }] of CODES) {
    const plain = { type, code: code as ErrorCode, message: 'wrong', hint: null, ...NO_DETAILS }
    assert.deepEqual(toPlainError(fromPlainError(plain)), plain)
  }
})

test('codes with a class of their own keep it', () => {
  const classes = {
    store_away: StoreAwayError,
    version_mismatch: PreconditionFailedError,
    run_stopped: RunStoppedError,
    proposal_decided: ConflictError,
    service_stopping: StoppingError,
  } as const
  for (const [code, Class] of Object.entries(classes)) {
    const { type } = ERROR_CODES[code as ErrorCode]
    assert.ok(fromPlainError({ type, code: code as ErrorCode, message: 'wrong' }) instanceof Class, code)
  }
})

test('an error that was stored without a code gets the general code of its type', () => {
  const error = fromPlainError({ type: 'SheetError', message: 'no record "a"', code: null })
  assert.ok(error instanceof SheetError)
  assert.equal(error.code, 'not_found')
})

test('an error that was stored with a code of another version gets the general code of its type', () => {
  for (const code of ['of_another_version', 'toString']) {
    const error = fromPlainError({ type: 'QueryError', message: 'wrong', code: code as ErrorCode })
    assert.ok(error instanceof QueryError)
    assert.equal(error.code, 'invalid_query')
  }
})

test('the hint of an error is sent with it', () => {
  const error = new SheetError('no run "7"', 'unknown_run', { hint: { action: 'list_runs' } })
  const plain = toPlainError(error)
  assert.deepEqual(plain && fromPlainError(structuredClone(plain)).hint, { action: 'list_runs' })
})
