"""What tests of pages look for."""

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}

# what is wider than the page, and what hides a part of its own text
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT_OFF = """[...document.querySelectorAll("article *, main *")].filter(e => {
    const style = getComputedStyle(e);
    return e.offsetParent && e.innerText && ["hidden", "clip"].includes(style.overflowX) && style.clipPath === "none"
        && e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1;
}).map(e => e.className + ": " + e.innerText.slice(0, 40))"""
