//! What exists only if instrumentation is compiled in. Without the feature `instrument` the same code
//! compiles, and the compiler knows that no thread has a slot and that no handle has data: it removes what
//! points would do.

#[cfg(not(feature = "instrument"))]
use std::marker::PhantomData;

/// Whether the feature `instrument` is compiled in.
pub(crate) const IS_COMPILED_IN: bool = cfg!(feature = "instrument");

/// The data of a handle. Without the feature `instrument` it has no size and no destructor.
#[cfg(feature = "instrument")]
#[derive(Clone)]
#[repr(transparent)]
pub(crate) struct Payload<T>(T);

/// The data of a handle, which is not compiled in.
#[cfg(not(feature = "instrument"))]
#[derive(Clone)]
pub(crate) struct Payload<T>(PhantomData<T>);

#[cfg(feature = "instrument")]
impl<T> Payload<T> {
    /// This data.
    #[inline(always)]
    pub const fn of(data: T) -> Self {
        Self(data)
    }

    /// What `create` returns.
    #[inline(always)]
    pub fn new(create: impl FnOnce() -> T) -> Self {
        Self(create())
    }

    /// The data.
    #[inline(always)]
    pub const fn get(&self) -> Option<&T> {
        Some(&self.0)
    }

    /// The data, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        Some(&mut self.0)
    }

    /// The data by value.
    #[inline(always)]
    pub fn into_inner(self) -> Option<T> {
        Some(self.0)
    }
}

#[cfg(not(feature = "instrument"))]
impl<T> Payload<T> {
    /// Nothing. The data owns nothing: what does is created by [`Self::new`].
    #[inline(always)]
    pub const fn of(data: T) -> Self {
        // A constant function may not drop it.
        std::mem::forget(data);
        Self(PhantomData)
    }

    /// Nothing: `create` is not called.
    #[inline(always)]
    pub fn new(_: impl FnOnce() -> T) -> Self {
        Self(PhantomData)
    }

    /// None.
    #[inline(always)]
    pub const fn get(&self) -> Option<&T> {
        None
    }

    /// None.
    #[inline(always)]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        None
    }

    /// None.
    #[inline(always)]
    pub fn into_inner(self) -> Option<T> {
        None
    }
}

#[cfg(feature = "tokio")]
impl<T> Payload<T> {
    /// A reference to the data.
    #[inline(always)]
    pub fn as_ref(&self) -> Payload<&T> {
        #[cfg(feature = "instrument")]
        return Payload(&self.0);
        #[cfg(not(feature = "instrument"))]
        Payload(PhantomData)
    }
}

impl<T> Payload<T> {
    /// What `change` returns for the data.
    #[inline(always)]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Payload<U> {
        #[cfg(feature = "instrument")]
        return Payload(change(self.0));
        #[cfg(not(feature = "instrument"))]
        {
            let _ = change;
            Payload(PhantomData)
        }
    }
}

impl<T> Payload<Option<T>> {
    /// The data, if there is any.
    #[inline(always)]
    pub const fn as_option(&self) -> Option<&T> {
        match self.get() {
            Some(data) => data.as_ref(),
            None => None,
        }
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn as_option_mut(&mut self) -> Option<&mut T> {
        self.get_mut()?.as_mut()
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Payload<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.get() {
            Some(data) => data.fmt(f),
            None => f.write_str("not compiled in"),
        }
    }
}
