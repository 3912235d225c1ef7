"use strict";
(() => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const themeButton = document.getElementById("theme");
  let theme = null;
  try { theme = localStorage.getItem("mover-theme"); } catch { /* not allowed for files */ }
  const applyTheme = () => {
    const dark = theme ? theme === "dark" : prefersDark.matches;
    root.dataset.theme = dark ? "dark" : "light";
    themeButton.textContent = dark ? "Light" : "Dark";
    themeButton.setAttribute("aria-label", dark ? "Use light colours" : "Use dark colours");
  };
  themeButton.hidden = false;
  themeButton.addEventListener("click", () => {
    theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("mover-theme", theme); } catch { /* the same */ }
    applyTheme();
  });
  prefersDark.addEventListener("change", applyTheme);
  applyTheme();
})();
