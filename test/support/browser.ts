import type { TestContext } from 'node:test'
import { chromium, type Browser } from 'playwright-core'
import { findChromium } from './find-program.ts'
import { onEnd } from './on-end.ts'

/** Whether tests can have a browser: for a test's option `skip`, why not, or false. */
export const { skip: NO_BROWSER, path: executablePath } = findChromium()

/** The browser that the tests of this process share; null while each has one of its own. */
let shared: { browser: Promise<Browser> | null } | null = null

/** Has the tests of this process share a browser, from now until the function that this returns is called. */
export function shareBrowser(): () => Promise<void> {
  const sharing: { browser: Promise<Browser> | null } = { browser: null }
  shared = sharing
  return async () => {
    shared = null
    await (await sharing.browser)?.close()
  }
}

/**
 * Starts a Chromium that is closed when the test ends, or lends the one that tests share, whose pages are then closed. It
 * takes `names` for 127.0.0.1 and knows no other: nothing leaves this machine.
 */
export async function startBrowser(t: TestContext, names: readonly string[] = []): Promise<Browser> {
  if (shared === null || names.length > 0) {
    const own = await launch(names)
    onEnd(t, () => own.close())
    return own
  }
  const browser = await (shared.browser ??= launch([]))
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
