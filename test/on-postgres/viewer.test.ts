import { after } from 'node:test'
import { shareBrowser } from '../support/browser.ts'
import { runGroup } from './run-group.ts'

after(shareBrowser())

await runGroup('viewer')
