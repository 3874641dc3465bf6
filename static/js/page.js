// What every page does: coming back, menus, dialogs, shortcuts, copying, the theme.

import { loadAnewWhenBack } from "./page/back.js"
import { listenForCopies } from "./page/copy.js"
import { listenForDialogs } from "./page/dialogs.js"
import { listenForMarks } from "./page/rail.js"
import { tellOthers } from "./page/session.js"
import { listenForShortcuts } from "./page/shortcuts.js"
import { listenForTheme } from "./page/theme.js"

document.documentElement.classList.add("has-scripts")
loadAnewWhenBack()
listenForCopies()
listenForDialogs()
listenForMarks()
listenForShortcuts()
listenForTheme()
tellOthers()
