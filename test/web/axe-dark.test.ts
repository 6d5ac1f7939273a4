import { test } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { assertAccessible } from '../support/viewer-pages.ts'

test('axe finds nothing, in dark', { skip: NO_BROWSER }, (t) => assertAccessible(t, 'dark'))
