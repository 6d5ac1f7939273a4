import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConflictError, ValidationError } from '../../errors/service-error.ts'
import { PROPOSAL_LIMITS } from '../stored-proposal.ts'
import { checkRoom } from './proposal-rules.ts'

test('a proposal is accepted within the limits of waiting proposals, of their bytes, and of its own bytes', () => {
  const { bytes, waiting, waitingBytes } = PROPOSAL_LIMITS
  checkRoom(bytes, { waiting: waiting - 1, bytes: waitingBytes - bytes })
  const full = /^\d+ proposals of \d+ bytes wait already, and there is room for 1000 of 67108864; have some/
  for (const taken of [
    { waiting, bytes: 0 },
    { waiting: 1, bytes: waitingBytes - bytes + 1 },
  ]) {
    assert.throws(
      () => checkRoom(bytes, taken),
      (error: unknown) => error instanceof ConflictError && full.test(error.message),
    )
  }
  assert.throws(() => checkRoom(bytes + 1, { waiting: 0, bytes: 0 }), ValidationError)
})
