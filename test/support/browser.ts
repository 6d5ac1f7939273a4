import { after, type TestContext } from 'node:test'
import { chromium, type Browser } from 'playwright-core'
import { findChromium } from './find-program.ts'
import { onEnd } from './on-end.ts'

/** Whether tests can have a browser: for a test's option `skip`, why not, or false. */
export const { skip: NO_BROWSER, path: executablePath } = findChromium()

/** The browser that the tests of this process share, once one of them has asked for it. */
let shared: Promise<Browser> | null = null

after(async () => (await shared)?.close())

/**
 * Returns the Chromium of this process, which is started for the first test that asks; the pages of a test are closed when it
 * ends. A test that gives `names` gets a Chromium of its own, which resolves them to 127.0.0.1. Neither resolves other names:
 * nothing leaves this machine.
 */
export async function startBrowser(t: TestContext, names: readonly string[] = []): Promise<Browser> {
  if (names.length > 0) {
    const own = await launch(names)
    onEnd(t, () => own.close())
    return own
  }
  const browser = await (shared ??= launch([]))
  onEnd(t, async () => {
    for (const context of browser.contexts()) await context.close()
  })
  return browser
}

async function launch(names: readonly string[]): Promise<Browser> {
  const mapped = names.map((name) => `MAP ${name} 127.0.0.1`)
  const rules = [...mapped, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1', 'EXCLUDE localhost']
  return chromium.launch({
    executablePath,
    args: [
      // Chromium refuses to run as root otherwise, which is who runs tests in containers; it sees our own pages only.
      '--no-sandbox',
      '--disable-background-networking',
      // The browser's own care for servers on this machine would hide whether ours withstands without it.
      '--disable-features=LocalNetworkAccessChecks',
      `--host-resolver-rules=${rules.join(', ')}`,
    ],
  })
}
