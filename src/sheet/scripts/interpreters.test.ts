import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interpreterOf } from './interpreters.ts'

const commandOf = (path: string, text: string, folders: string): unknown =>
  interpreterOf({ path, bytes: Buffer.from(text), sha256: '' }, { path: folders, node: '/node' })

test('a script runs in the interpreter of its ending, a shell script in bash if its first line names that', () => {
  const inSh = commandOf('scripts/a.sh', '#!/bin/sh\nbash x', '/no-such-folder:/bin')
  assert.deepEqual(inSh, { ok: true, value: ['/bin/sh'] })
  for (const ending of ['js', 'mjs', 'ts']) {
    assert.deepEqual(commandOf(`scripts/a.${ending}`, '', '/bin'), { ok: true, value: ['/node'] })
  }
})

test('a missing interpreter is an error that says what to install', () => {
  assert.deepEqual(commandOf('scripts/a.py', '', '/no-such-folder'), {
    ok: false,
    error: 'python3, which scripts/a.py needs, is not in /no-such-folder; install Python 3 and run again',
  })
  const inBash = commandOf('scripts/a.sh', '#!/usr/bin/env bash\n', '/no-such-folder')
  assert.match(JSON.stringify(inBash), /bash, which scripts\/a\.sh needs/)
})
