import assert from 'node:assert/strict'
import { constants } from 'node:os'
import { test } from 'node:test'
import { adviceFor, systemCode } from './system-code.ts'

test('an error of the file system has a code, also where Node knows only its number', () => {
  const failed = (code: string, errno: number): Error =>
    Object.assign(new Error('it failed'), { code, errno, syscall: 'write' })
  assert.equal(systemCode(failed('ENOSPC', -constants.errno.ENOSPC)), 'ENOSPC')
  const { EDQUOT } = constants.errno
  assert.equal(systemCode(failed(`Unknown system error -${EDQUOT}`, -EDQUOT)), 'EDQUOT')
  assert.equal(systemCode(Object.assign(new Error('no file'), { code: 'ERR_OTHER' })), undefined)
  assert.match(adviceFor('EDQUOT'), /quota/)
  assert.match(adviceFor('EACCES'), /let the server write/)
})
